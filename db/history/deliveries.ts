// Reads deliveries and their attempts. Deliveries of a deleted source are invisible, like its events.
import { idTime, isId } from '../../core/text/ids.ts';
import { type Lane, DELIVERY_STATUSES } from '../../core/delivery/delivery.ts';
import { deliveriesFrom, firstDeliveryOf, OPEN, READ_IN_ORDER, replaysIn } from '../sql/rules.ts';
import type { AttemptContext } from '../hot-path/load-attempts.ts';
import { type AttemptResult, readExchange } from '../hot-path/record-results.ts';
import { bounds } from '../connections/parameters.ts';
import { firstRow, idsOf, inSnapshot, type Pool, type Queryable } from '../connections/pool.ts';
import { NEXT_ROWS_MS } from './events.ts';
import { findPart } from './search.ts';
import { countMatching, type Found, type Part, readPart } from '../sql/list-parts.ts';
import {
  Parameters,
  type Range,
  rangeOfSelection,
  rowMatches,
  type Selection,
  undeliveredStatuses,
} from './selection.ts';
import { raw, sql } from '../connections/statements.ts';

type OfDelivery = 'eventId' | 'sourceId' | 'routeId' | 'destinationId' | 'status' | 'attemptCount' | 'statusCode';

export interface DeliveryRecord extends Pick<AttemptContext, OfDelivery> {
  id: string;
  sourceName: string;
  /** Null when the route has been deleted since. */
  routeName: string | null;
  /** Null when the destination has been deleted since. */
  destinationName: string | null;
  /** Of the latest attempt, ms. */
  latency: number | null;
  error: string | null;
  nextAttemptAt: Date | null;
  deliveredAt: Date | null;
  finishedAt: Date | null;
  failoverOf: string | null;
  replayOf: string | null;
  /** The latest replay of it that was not skipped. */
  replayedBy: { id: string; status: string; createdAt: Date } | null;
  /** In which lane the first attempt was made; null before that. */
  lane: Lane | null;
  /** The file it is in, or will be in; null for an HTTP destination, and while it waits for a file. */
  batchId: string | null;
  /** The beginning of its ordering key, and its number there; null: it is in no order. */
  orderKey: string | null;
  sequence: number | null;
  /** The delivery that is attempted before it; null: it waits for none. */
  waitsFor: string | null;
}

type StoredDelivery = Omit<DeliveryRecord, 'replayedBy'> & { counted: boolean };

const COLUMNS = `
d.id, d.event_id as "eventId", d.source_id as "sourceId", d.route_id as "routeId", d.destination_id as "destinationId",
s.name as "sourceName", w.name as "routeName", t.name as "destinationName", d.status,
d.attempt_count as "attemptCount", d.status_code as "statusCode", d.latency, d.error,
d.next_attempt_at as "nextAttemptAt", d.delivered_at as "deliveredAt", d.finished_at as "finishedAt",
d.failover_of as "failoverOf", d.replay_of as "replayOf", d.counted, d.lane, d.batch_id as "batchId",
d.order_key as "orderKey", d.order_number::float8 as sequence,
case when d.order_number is not null and d.status in ${OPEN} then (
  select k.head_id from order_keys k
  where k.destination_id = d.destination_id and k.key_hash = d.order_hash and k.head_id <> d.id) end as "waitsFor"`;

const FROM = `
from deliveries d join sources s on s.id = d.source_id left join destinations t on t.id = d.destination_id
left join routes w on w.id = d.route_id
where d.organization_id = $1`;

/**
 * A part of an organization's deliveries, newest first.
 * @throws SearchTooBroadError when a page takes too long to search for; PageTooDeepError
 */
export async function listDeliveries(
  pool: Pool,
  organizationId: string,
  filter: DeliveryFilter & { eventId?: string },
  part: Part,
): Promise<Omit<Found, 'ids'> & { deliveries: DeliveryRecord[] }> {
  const { eventId } = filter;
  return inSnapshot(pool, async (db) => {
    const { ids, ...found } = await (eventId === undefined
      ? findPart(db, deliverySelection(organizationId, filter), part, NEXT_ROWS_MS)
      : findPartOfEvent(db, organizationId, { ...filter, eventId }, part));
    const { low, high } = bounds(ids);
    const { rows } = await db.query<StoredDelivery>(
      `select ${COLUMNS} ${FROM} and d.id = any($2::text[]) and d.id between $3 and $4 order by d.id desc`,
      [organizationId, ids, low, high],
    );
    return { deliveries: await withReplays(db, rows), ...found };
  });
}

/** What was replayed counts no more in its event (`counted`), so most lists need no look-up. */
async function withReplays(db: Queryable, deliveries: readonly StoredDelivery[]): Promise<DeliveryRecord[]> {
  const replaced = deliveries.flatMap(({ id, counted }) => (counted ? [] : [id]));
  const replays = new Map<string, DeliveryRecord['replayedBy']>();
  if (replaced.length > 0) {
    const { low, high } = bounds(replaced);
    const { rows } = await db.query<{ of: string; id: string; status: string }>(
      `select d.id as of, x.id, x.status from deliveries d cross join lateral (
         select x.id, x.status ${replaysIn('d', '$2')} order by x.id desc limit 1) x
       where d.id = any($1::text[]) and d.id between $2 and $3`,
      [replaced, low, high],
    );
    for (const { of, ...replay } of rows) replays.set(of, { ...replay, createdAt: new Date(idTime(replay.id)) });
  }
  return deliveries.map(({ counted, ...delivery }) => ({ ...delivery, replayedBy: replays.get(delivery.id) ?? null }));
}

// Reads the index of the event in its order, because an event that is replayed often has many deliveries.
async function findPartOfEvent(
  db: Queryable,
  organizationId: string,
  { eventId, ...filter }: DeliveryFilter & { eventId: string },
  part: Part,
): Promise<Found> {
  const isCounting = 'offset' in part || part.withTotal;
  if (!isId('evt', eventId)) {
    return { ids: [], total: isCounting ? 0 : null, totalIsExact: true, next: null, searchedUntil: null };
  }
  await sql(db).run`select ${raw(READ_IN_ORDER)}`;
  const selection = deliverySelection(organizationId, filter);
  const { items: ids, ...found } = await readPart<string>(part, {
    total() {
      const query = new Parameters();
      const matching = ofEvent(query, eventId, selection);
      return countMatching(db, matching, query.values);
    },
    async items(after, limit, offset) {
      const { text, values } = newestOfEvent(
        eventId,
        { ...selection, ...(after !== null && { before: after }) },
        limit,
        offset,
      );
      return idsOf(db, text, values);
    },
    cursorOf: (id) => id,
  });
  return { ids, ...found };
}

export function newestOfEvent(eventId: string, selection: Selection, limit: number, offset: number) {
  const query = new Parameters();
  const text = `select r.id ${ofEvent(query, eventId, selection)} order by r.id desc
    limit ${query.add(limit)} offset ${query.add(offset)}`;
  return { text, values: query.values };
}

const ofEvent = (query: Parameters, eventId: string, selection: Selection): string =>
  `from deliveries r
   where r.event_id = ${query.add(eventId)} and r.id >= ${query.add(firstDeliveryOf(eventId))}
     and ${rowMatches(query, selection, rangeOfSelection(selection))}
     and (select true from sources s where s.id = r.source_id)`;

export async function findDelivery(db: Queryable, organizationId: string, id: string): Promise<DeliveryRecord | null> {
  const row = await firstRow<StoredDelivery>(db, `select ${COLUMNS} ${FROM} and d.id = $2`, [organizationId, id]);
  return row ? ((await withReplays(db, [row]))[0] ?? null) : null;
}

/** How many deliveries an answer about one event shows. */
const MOST_OF_EVENT = 1000;
/** Attempts in one timeline. A single delivery has fewer (`maxRetries`). */
const MOST_ATTEMPTS = 5000;

export interface DeliveriesOfEvent {
  deliveries: DeliveryRecord[];
  /** The cursor of the older ones in the list of deliveries; null: these are all. */
  next: string | null;
}

export async function deliveriesOfEvent(
  pool: Pool,
  organizationId: string,
  eventId: string,
): Promise<DeliveriesOfEvent> {
  const part = { limit: MOST_OF_EVENT, after: null, withTotal: false };
  const { deliveries, next } = await listDeliveries(pool, organizationId, { eventId }, part);
  return { deliveries: deliveries.toReversed(), next };
}

export async function timelineOfEvent(pool: Pool, organizationId: string, eventId: string) {
  const { deliveries: all, next } = await deliveriesOfEvent(pool, organizationId, eventId);
  let attempts = 0;
  const isTooMany = ({ attemptCount }: DeliveryRecord) => {
    attempts += attemptCount;
    return attempts > MOST_ATTEMPTS;
  };
  const shown = all.slice(all.findLastIndex(isTooMany) + 1);
  const ofDelivery = await shortAttemptsOf(
    pool,
    shown.map(({ id }) => id),
  );
  return {
    deliveries: shown.map((delivery) => ({ ...delivery, attempts: ofDelivery.get(delivery.id) ?? [] })),
    next: shown.length < all.length ? (shown[0]?.id ?? null) : next,
  };
}

export interface ShortAttempt
  extends Pick<AttemptResult, 'attemptNumber' | 'statusCode' | 'latency' | 'startedAt' | 'completedAt'> {
  status: 'success' | 'failed';
}

export interface AttemptRecord
  extends ShortAttempt,
    Pick<AttemptResult, 'requestHeaders' | 'responseHeaders' | 'responseBody' | 'exchange'> {
  error: string | null;
}

const SHORT_ATTEMPT = `attempt_number as "attemptNumber", status, status_code as "statusCode", latency,
  started_at as "startedAt", completed_at as "completedAt"`;

/** The attempts of a delivery that the caller was allowed to read, in order. */
export async function attemptsOf(db: Queryable, deliveryId: string): Promise<AttemptRecord[]> {
  const rows = await sql(db).rows<Omit<AttemptRecord, 'exchange'> & { exchange: string | null }>`
    select ${raw(SHORT_ATTEMPT)}, error, request_headers as "requestHeaders", response_headers as "responseHeaders",
           response_body as "responseBody", exchange
    from attempts where delivery_id = ${deliveryId} order by attempt_number`;
  return rows.map((row) => ({ ...row, exchange: readExchange(row.exchange) }));
}

/** Those of deliveries, without what was sent and answered: that is most of an attempt, and stays unread. */
async function shortAttemptsOf(db: Queryable, deliveryIds: string[]): Promise<Map<string, ShortAttempt[]>> {
  const { low, high } = bounds(deliveryIds);
  const rows = await sql(db).rows<ShortAttempt & { deliveryId: string }>`
    select delivery_id as "deliveryId", ${raw(SHORT_ATTEMPT)}
    from attempts where delivery_id = any(${deliveryIds}::text[]) and delivery_id between ${low} and ${high}
    order by delivery_id, attempt_number`;
  const attempts = new Map<string, ShortAttempt[]>(deliveryIds.map((id) => [id, []]));
  for (const { deliveryId, ...attempt } of rows) attempts.get(deliveryId)?.push(attempt);
  return attempts;
}

/** Of the latest attempt; `none`: attempts were made, and the latest had no answer. */
export const CODE_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx', 'none'] as const;
export type CodeClass = (typeof CODE_CLASSES)[number];

export interface DeliveryFilter {
  sourceId?: string;
  routeId?: string;
  destinationId?: string;
  status?: string[];
  statusCode?: number;
  codeClass?: CodeClass;
  /** A LIKE pattern that the error of the latest attempt must match; letter case is ignored. */
  errorPattern?: string;
  lane?: Lane;
  /** Whether it is a replay. */
  isReplay?: boolean;
  /** Whether it has been replayed. */
  replayed?: boolean;
  /** Created at or after. */
  from?: Date;
  /** Created at or before. */
  to?: Date;
}

// What succeeds has no error (core/delivery/verdict.ts), so most rows need not be read.
const WITH_ERROR = DELIVERY_STATUSES.filter((status) => status !== 'delivered');

export function deliverySelection(organizationId: string, filter: DeliveryFilter): Selection {
  const { from, to, sourceId, routeId, destinationId, status, errorPattern, isReplay, replayed } = filter;
  const statuses =
    errorPattern === undefined ? status : WITH_ERROR.filter((each) => status === undefined || status.includes(each));
  const conditions: ((query: Parameters, range: Range) => string)[] = conditionsOf(filter);
  if (isReplay !== undefined) conditions.push(() => `r.replay_of is ${isReplay ? 'not null' : 'null'}`);
  if (replayed !== undefined) conditions.push((query, range) => isReplayed(query, organizationId, range, replayed));
  return {
    kind: 'delivery',
    organizationId,
    from,
    to,
    where: { source_id: sourceId, route_id: routeId, destination_id: destinationId, status: statuses },
    ...(conditions.length > 0 && {
      also: (query: Parameters, range: Range) => conditions.map((condition) => condition(query, range)).join(' and '),
    }),
  };
}

/** They never count, whether they were replayed or not. */
const UNCOUNTED = ['failed_over', 'skipped'];

// What is replayed stops counting. Only where that may have been for another reason, or its replay was skipped after
// all, the replays are looked up: for each row, in the partitions of all later days. The subquery has a limit, with
// which PostgreSQL does not join it.
function isReplayed(query: Parameters, organizationId: string, range: Range, replayed: boolean): string {
  const from = query.add(deliveriesFrom(range.from));
  const replay = `(select true ${replaysIn('r', from)} limit 1)`;
  const skipped = `select k.event_id from deliveries k
    where k.organization_id = ${query.add(organizationId)} and k.undelivered_status = 'skipped' and k.id >= ${from}
      and k.replay_of is not null`;
  const isUnsure = `(r.status = any(${query.add(UNCOUNTED)}::text[]) or r.event_id in (${skipped}))`;
  return replayed
    ? `not r.counted and (not ${isUnsure} or ${replay})`
    : `(r.counted or (${isUnsure} and ${replay} is null))`;
}

/** Whether it reads many rows that do not match. */
export function isDeliverySearch(filter: DeliveryFilter): boolean {
  const { status, isReplay, replayed } = filter;
  const isOfIndex = undeliveredStatuses({ kind: 'delivery', where: { status } })?.every(
    (one) => !UNCOUNTED.includes(one),
  );
  return conditionsOf(filter).length > 0 || isReplay !== undefined || (replayed !== undefined && !isOfIndex);
}

function conditionsOf({ statusCode, codeClass, errorPattern, lane }: DeliveryFilter) {
  const conditions: ((query: Parameters) => string)[] = [];
  if (statusCode !== undefined) conditions.push((query) => `r.status_code = ${query.add(statusCode)}`);
  if (codeClass === 'none') conditions.push(() => 'r.status_code is null and r.attempt_count > 0');
  else if (codeClass !== undefined) {
    const first = Number(codeClass.charAt(0)) * 100;
    conditions.push((query) => `r.status_code between ${query.add(first)} and ${query.add(first + 99)}`);
  }
  if (errorPattern !== undefined) conditions.push((query) => `r.error ilike ${query.add(errorPattern)}`);
  if (lane !== undefined) conditions.push((query) => `r.lane = ${query.add(lane)}`);
  return conditions;
}

export interface RecordVersion {
  version: number;
  updatedAt: Date;
}

/** Null: it was deleted. */
export async function destinationVersion(
  db: Queryable,
  organizationId: string,
  destinationId: string,
): Promise<RecordVersion | null> {
  return sql(db).find<RecordVersion>`
    select version, updated_at as "updatedAt" from destinations where organization_id = ${organizationId}
      and id = ${destinationId}`;
}

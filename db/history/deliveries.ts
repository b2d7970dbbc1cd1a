// Reads deliveries and their attempts. Deliveries of a deleted source are invisible, like its events.
import { idTime, isId } from '../../core/text/ids.ts';
import { type Lane, DELIVERY_STATUSES } from '../../core/delivery/delivery.ts';
import { deliveriesFrom, firstDeliveryOf, OPEN, READ_IN_ORDER, replaysOf } from '../sql/rules.ts';
import type { AttemptContext } from '../hot-path/load-attempts.ts';
import { type AttemptResult, readExchange } from '../hot-path/record-results.ts';
import { bounds, allOf, among, type Fragment, fragment, raw, sql } from '../connections/statements.ts';
import { inSnapshot, type Pool, type Queryable } from '../connections/pool.ts';
import { NEXT_ROWS_MS } from './events.ts';
import { findPart } from './search.ts';
import { countMatching, type Found, type Part, readPart } from '../sql/list-parts.ts';
import { type Range, rangeOfSelection, rowMatches, type Selection, undeliveredStatuses } from './selection.ts';

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
d.id, d.event_id, d.source_id, d.route_id, d.destination_id, s.name as source_name, w.name as route_name,
t.name as destination_name, d.status, d.attempt_count, d.status_code, d.latency, d.error, d.next_attempt_at,
d.delivered_at, d.finished_at, d.failover_of, d.replay_of, d.counted, d.lane, d.batch_id, d.order_key,
d.order_number::float8 as sequence,
case when d.order_number is not null and d.status in ${OPEN} then (
  select k.head_id from order_keys k
  where k.destination_id = d.destination_id and k.key_hash = d.order_hash and k.head_id <> d.id) end as waits_for`;

const FROM = `
from deliveries d join sources s on s.id = d.source_id left join destinations t on t.id = d.destination_id
left join routes w on w.id = d.route_id`;

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
    const rows = await sql(db).rows<StoredDelivery>`
      select ${raw(COLUMNS + FROM)} where d.organization_id = ${organizationId} and ${among('d.id', ids)}
      order by d.id desc`;
    return { deliveries: await withReplays(db, rows), ...found };
  });
}

/** What was replayed counts no more in its event (`counted`), so most lists need no look-up. */
async function withReplays(db: Queryable, deliveries: readonly StoredDelivery[]): Promise<DeliveryRecord[]> {
  const replaced = deliveries.flatMap(({ id, counted }) => (counted ? [] : [id]));
  const replays = new Map<string, DeliveryRecord['replayedBy']>();
  if (replaced.length > 0) {
    const { low } = bounds(replaced);
    const rows = await sql(db).rows<{ of: string; id: string; status: string }>`
      select d.id as of, x.id, x.status from deliveries d cross join lateral (
        select x.id, x.status ${replaysOf('d', low)} order by x.id desc limit 1) x
      where ${among('d.id', replaced)}`;
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
    total: () => countMatching(db, ofEvent(eventId, selection)),
    items: (after, limit, offset) =>
      sql(db)
        .column`${newestOfEvent(eventId, { ...selection, ...(after !== null && { before: after }) }, limit, offset)}`,
    cursorOf: (id) => id,
  });
  return { ids, ...found };
}

export const newestOfEvent = (eventId: string, selection: Selection, limit: number, offset: number): Fragment =>
  fragment`select r.id ${ofEvent(eventId, selection)} order by r.id desc limit ${limit} offset ${offset}`;

const ofEvent = (eventId: string, selection: Selection): Fragment =>
  fragment`from deliveries r
    where r.event_id = ${eventId} and r.id >= ${firstDeliveryOf(eventId)}
      and ${rowMatches(selection, rangeOfSelection(selection))}
      and (select true from sources s where s.id = r.source_id)`;

export async function findDelivery(db: Queryable, organizationId: string, id: string): Promise<DeliveryRecord | null> {
  const rows = await sql(db).rows<StoredDelivery>`
    select ${raw(COLUMNS + FROM)} where d.organization_id = ${organizationId} and d.id = ${id}`;
  return (await withReplays(db, rows))[0] ?? null;
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

const SHORT_ATTEMPT = raw('attempt_number, status, status_code, latency, started_at, completed_at');

/** The attempts of a delivery that the caller was allowed to read, in order. */
export async function attemptsOf(db: Queryable, deliveryId: string): Promise<AttemptRecord[]> {
  const rows = await sql(db).rows<Omit<AttemptRecord, 'exchange'> & { exchange: string | null }>`
    select ${SHORT_ATTEMPT}, error, request_headers, response_headers, response_body, exchange
    from attempts where delivery_id = ${deliveryId} order by attempt_number`;
  return rows.map((row) => ({ ...row, exchange: readExchange(row.exchange) }));
}

/** Those of deliveries, without what was sent and answered: that is most of an attempt, and stays unread. */
async function shortAttemptsOf(db: Queryable, deliveryIds: string[]): Promise<Map<string, ShortAttempt[]>> {
  const rows = await sql(db).rows<ShortAttempt & { deliveryId: string }>`
    select delivery_id, ${SHORT_ATTEMPT}
    from attempts where ${among('delivery_id', deliveryIds)} order by delivery_id, attempt_number`;
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
  const conditions: ((range: Range) => Fragment)[] = conditionsOf(filter).map((condition) => () => condition);
  if (isReplay !== undefined) conditions.push(() => raw(`r.replay_of is ${isReplay ? 'not null' : 'null'}`));
  if (replayed !== undefined) conditions.push((range) => isReplayed(organizationId, range, replayed));
  return {
    kind: 'delivery',
    organizationId,
    from,
    to,
    where: { source_id: sourceId, route_id: routeId, destination_id: destinationId, status: statuses },
    ...(conditions.length > 0 && {
      also: (range: Range) => allOf(conditions.map((condition) => condition(range))),
    }),
  };
}

/** They never count, whether they were replayed or not. */
const UNCOUNTED = ['failed_over', 'skipped'];

// What is replayed stops counting. Only where that may have been for another reason, or its replay was skipped after
// all, the replays are looked up: for each row, in the partitions of all later days. The subquery has a limit, with
// which PostgreSQL does not join it.
function isReplayed(organizationId: string, range: Range, replayed: boolean): Fragment {
  const from = deliveriesFrom(range.from);
  const replay = fragment`(select true ${replaysOf('r', from)} limit 1)`;
  const skipped = fragment`select k.event_id from deliveries k
    where k.organization_id = ${organizationId} and k.undelivered_status = 'skipped' and k.id >= ${from}
      and k.replay_of is not null`;
  const isUnsure = fragment`(r.status = any(${UNCOUNTED}::text[]) or r.event_id in (${skipped}))`;
  return replayed
    ? fragment`not r.counted and (not ${isUnsure} or ${replay})`
    : fragment`(r.counted or (${isUnsure} and ${replay} is null))`;
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
  const conditions: Fragment[] = [];
  if (statusCode !== undefined) conditions.push(fragment`r.status_code = ${statusCode}`);
  if (codeClass === 'none') conditions.push(raw('r.status_code is null and r.attempt_count > 0'));
  else if (codeClass !== undefined) {
    const first = Number(codeClass.charAt(0)) * 100;
    conditions.push(fragment`r.status_code between ${first} and ${first + 99}`);
  }
  if (errorPattern !== undefined) conditions.push(fragment`r.error ilike ${errorPattern}`);
  if (lane !== undefined) conditions.push(fragment`r.lane = ${lane}`);
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
    select version, updated_at from destinations where organization_id = ${organizationId}
      and id = ${destinationId}`;
}

// Reads deliveries and their attempts. Which ones a filter selects: delivery-filter.ts. Deliveries of a deleted source are invisible, like its events.
import { idFloor, idTime, isId } from '../../core/ids.ts';
import type { Lane } from '../../core/lane.ts';
import { CLOCK_SKEW_MS } from '../clock.ts';
import { type AttemptExchange, readExchange } from '../hot-path/attempt-exchange.ts';
import { bounds } from '../parameters.ts';
import { inSnapshot, type Pool, type Queryable } from '../connections/pool.ts';
import { type DeliveryFilter, deliverySelection } from './delivery-filter.ts';
import { NEXT_ROWS_MS } from './events.ts';
import { findPart } from './lists/next.ts';
import type { Found, Part } from './lists/part.ts';
import { Parameters, rangeOfSelection, rowMatches } from './selection.ts';

export interface DeliveryRecord {
  id: string;
  eventId: string;
  sourceId: string;
  sourceName: string;
  routeId: string | null;
  /** Null when the route has been deleted since. */
  routeName: string | null;
  destinationId: string;
  /** Null when the destination has been deleted since. */
  destinationName: string | null;
  status: string;
  attemptCount: number;
  statusCode: number | null;
  /** Of the latest attempt, ms. */
  latency: number | null;
  error: string | null;
  nextAttemptAt: Date | null;
  deliveredAt: Date | null;
  finishedAt: Date | null;
  failoverOf: string | null;
  replayOf: string | null;
  /** In which lane the first attempt was made; null before that. */
  lane: Lane | null;
  /** The file it is in, or will be in; null for an HTTP destination, and while it waits for a file. */
  batchId: string | null;
}

const COLUMNS = `
d.id, d.event_id as "eventId", d.source_id as "sourceId", d.route_id as "routeId", d.destination_id as "destinationId",
s.name as "sourceName", w.name as "routeName", t.name as "destinationName", d.status, d.attempt_count as "attemptCount", d.status_code as "statusCode", d.latency, d.error,
d.next_attempt_at as "nextAttemptAt", d.delivered_at as "deliveredAt", d.finished_at as "finishedAt",
d.failover_of as "failoverOf", d.replay_of as "replayOf", d.lane, d.batch_id as "batchId"`;

const FROM = `
from deliveries d join sources s on s.id = d.source_id left join destinations t on t.id = d.destination_id
left join routes w on w.id = d.route_id
where d.organization_id = $1`;

/**
 * A part of an organization's deliveries, newest first.
 * @throws SearchTooBroadError when a page or a total takes too long to search for
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
    const { rows } = await db.query<DeliveryRecord>(
      `select ${COLUMNS} ${FROM} and d.id = any($2::text[]) and d.id between $3 and $4 order by d.id desc`,
      [organizationId, ids, low, high],
    );
    return { deliveries: rows, ...found };
  });
}

// An event has few deliveries, so all that match are read.
async function findPartOfEvent(
  db: Queryable,
  organizationId: string,
  { eventId, ...filter }: DeliveryFilter & { eventId: string },
  part: Part,
): Promise<Found> {
  const ids = isId('evt', eventId) ? await idsOfEvent(db, organizationId, eventId, filter) : [];
  const nothingMore = { next: null, searchedUntil: null };
  if ('offset' in part) {
    return { ids: ids.slice(part.offset, part.offset + part.limit), total: ids.length, ...nothingMore };
  }
  const { after, limit, withTotal } = part;
  const rest = ids.filter((id) => after === null || id < after);
  const shown = rest.slice(0, limit);
  const total = withTotal ? ids.length : null;
  return { ...nothingMore, ids: shown, total, next: rest.length > limit ? (shown.at(-1) ?? null) : null };
}

async function idsOfEvent(
  db: Queryable,
  organizationId: string,
  eventId: string,
  filter: DeliveryFilter,
): Promise<string[]> {
  const selection = deliverySelection(organizationId, filter);
  const query = new Parameters();
  const { rows } = await db.query<{ id: string }>(
    `select r.id from deliveries r join sources s on s.id = r.source_id
     where r.event_id = ${query.add(eventId)} and r.id >= ${query.add(firstOf(eventId))}
       and ${rowMatches(query, selection, rangeOfSelection(selection))} order by r.id desc`,
    query.values,
  );
  return rows.map(({ id }) => id);
}

// No delivery is older than its event, so partitions of earlier days are pruned.
const firstOf = (eventId: string): string => idFloor('dlv', Math.max(0, idTime(eventId) - CLOCK_SKEW_MS));

export async function findDelivery(db: Queryable, organizationId: string, id: string): Promise<DeliveryRecord | null> {
  const { rows } = await db.query<DeliveryRecord>(`select ${COLUMNS} ${FROM} and d.id = $2`, [organizationId, id]);
  return rows[0] ?? null;
}

/** All deliveries of an event, oldest first. */
export async function deliveriesOfEvent(
  db: Queryable,
  organizationId: string,
  eventId: string,
): Promise<DeliveryRecord[]> {
  if (!isId('evt', eventId)) return [];
  const { rows } = await db.query<DeliveryRecord>(
    `select ${COLUMNS} ${FROM} and d.event_id = $2 and d.id >= $3 order by d.id`,
    [organizationId, eventId, firstOf(eventId)],
  );
  return rows;
}

export interface AttemptRecord {
  deliveryId: string;
  attemptNumber: number;
  status: 'success' | 'failed';
  statusCode: number | null;
  error: string | null;
  latency: number;
  startedAt: Date;
  completedAt: Date;
  requestHeaders: Record<string, string>;
  responseHeaders: Record<string, string> | null;
  responseBody: string | null;
  /** Null: not known. */
  exchange: AttemptExchange | null;
}

/** The attempts of deliveries that the caller was allowed to read, in order. */
export async function attemptsOf(db: Queryable, deliveryIds: string[]): Promise<AttemptRecord[]> {
  const { low, high } = bounds(deliveryIds);
  const { rows } = await db.query<Omit<AttemptRecord, 'exchange'> & { exchange: string | null }>(
    `select delivery_id as "deliveryId", attempt_number as "attemptNumber", status, status_code as "statusCode", error, latency,
            started_at as "startedAt", completed_at as "completedAt", request_headers as "requestHeaders",
            response_headers as "responseHeaders", response_body as "responseBody", exchange
     from attempts where delivery_id = any($1::text[]) and delivery_id between $2 and $3
     order by delivery_id, attempt_number`,
    [deliveryIds, low, high],
  );
  return rows.map((row) => ({ ...row, exchange: readExchange(row.exchange) }));
}

// Reads deliveries and their attempts. Deliveries of a deleted source are invisible, like its events.
import { idFloor, idTime, isId } from '../../core/ids.ts';
import type { Lane } from '../../core/lane.ts';
import { CLOCK_SKEW_MS } from '../clock.ts';
import { type AttemptExchange, readExchange } from '../hot-path/attempt-exchange.ts';
import { bounds } from '../parameters.ts';
import { inSnapshot, type Pool, type Queryable } from '../pool.ts';
import { idRange } from './events.ts';
import { findPage } from './page.ts';

export interface DeliveryRecord {
  id: string;
  eventId: string;
  sourceId: string;
  routeId: string | null;
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
t.name as "destinationName", d.status, d.attempt_count as "attemptCount", d.status_code as "statusCode", d.latency, d.error,
d.next_attempt_at as "nextAttemptAt", d.delivered_at as "deliveredAt", d.finished_at as "finishedAt",
d.failover_of as "failoverOf", d.replay_of as "replayOf", d.lane, d.batch_id as "batchId"`;

const FROM = `
from deliveries d join sources s on s.id = d.source_id left join destinations t on t.id = d.destination_id
where d.organization_id = $1`;

export interface DeliveryFilter {
  eventId?: string;
  routeId?: string;
  destinationId?: string;
  status?: string;
  /** Created at or after. */
  from?: Date;
  /** Created at or before. */
  to?: Date;
}

/** One page of an organization's deliveries, newest first, and how many match in all. */
export async function listDeliveries(
  pool: Pool,
  organizationId: string,
  filter: DeliveryFilter,
  page: { limit: number; offset: number },
): Promise<{ deliveries: DeliveryRecord[]; total: number }> {
  const { eventId, from, to, routeId, destinationId, status } = filter;
  if (eventId !== undefined) return listOfEvent(pool, organizationId, { ...filter, eventId }, page);
  const where = { route_id: routeId, destination_id: destinationId, status };
  return inSnapshot(pool, async (db) => {
    const { ids, total } = await findPage(db, { kind: 'delivery', organizationId, from, to, where }, page);
    const { low, high } = bounds(ids);
    const { rows } = await db.query<DeliveryRecord>(
      `select ${COLUMNS} ${FROM} and d.id = any($2::text[]) and d.id between $3 and $4 order by d.id desc`,
      [organizationId, ids, low, high],
    );
    return { deliveries: rows, total };
  });
}

// An event has few deliveries, so these are read whole.
async function listOfEvent(
  db: Queryable,
  organizationId: string,
  filter: DeliveryFilter & { eventId: string },
  { limit, offset }: { limit: number; offset: number },
): Promise<{ deliveries: DeliveryRecord[]; total: number }> {
  const [low, high] = idRange('dlv', filter);
  const matching = (await deliveriesOfEvent(db, organizationId, filter.eventId))
    .toReversed()
    .filter(
      ({ id, routeId, destinationId, status }) =>
        id >= low &&
        id < high &&
        routeId === (filter.routeId ?? routeId) &&
        destinationId === (filter.destinationId ?? destinationId) &&
        status === (filter.status ?? status),
    );
  return { deliveries: matching.slice(offset, offset + limit), total: matching.length };
}

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
  // No delivery is older than its event, so partitions of earlier days are pruned.
  const first = idFloor('dlv', Math.max(0, idTime(eventId) - CLOCK_SKEW_MS));
  const { rows } = await db.query<DeliveryRecord>(
    `select ${COLUMNS} ${FROM} and d.event_id = $2 and d.id >= $3 order by d.id`,
    [organizationId, eventId, first],
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

// Reads deliveries and their attempts. Deliveries of a deleted source are invisible, like its events.
import type { Lane } from '../../core/lane.ts';
import type { Queryable } from '../pool.ts';
import { idRange } from './events.ts';

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
}

const COLUMNS = `
d.id, d.event_id as "eventId", d.source_id as "sourceId", d.route_id as "routeId", d.destination_id as "destinationId",
t.name as "destinationName", d.status, d.attempt_count as "attemptCount", d.status_code as "statusCode", d.latency, d.error,
d.next_attempt_at as "nextAttemptAt", d.delivered_at as "deliveredAt", d.finished_at as "finishedAt",
d.failover_of as "failoverOf", d.replay_of as "replayOf", d.lane`;

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

const MATCHING = `${FROM} and d.id >= $2 and d.id < $3
  and ($4::text is null or d.event_id = $4)
  and ($5::text is null or d.route_id = $5)
  and ($6::text is null or d.destination_id = $6)
  and ($7::text is null or d.status = $7)`;

/** One page of an organization's deliveries, newest first, and how many match in all. */
export async function listDeliveries(
  db: Queryable,
  organizationId: string,
  filter: DeliveryFilter,
  page: { limit: number; offset: number },
): Promise<{ deliveries: DeliveryRecord[]; total: number }> {
  const values = [
    organizationId,
    ...idRange('dlv', filter),
    filter.eventId ?? null,
    filter.routeId ?? null,
    filter.destinationId ?? null,
    filter.status ?? null,
  ];
  const [deliveries, count] = await Promise.all([
    db.query<DeliveryRecord>(`select ${COLUMNS} ${MATCHING} order by d.id desc limit $8 offset $9`, [
      ...values,
      page.limit,
      page.offset,
    ]),
    db.query<{ total: number }>(`select count(*) as total ${MATCHING}`, values),
  ]);
  return { deliveries: deliveries.rows, total: count.rows[0]?.total ?? 0 };
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
  const { rows } = await db.query<DeliveryRecord>(`select ${COLUMNS} ${FROM} and d.event_id = $2 order by d.id`, [
    organizationId,
    eventId,
  ]);
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
}

/** The attempts of deliveries that the caller was allowed to read, in order. */
export async function attemptsOf(db: Queryable, deliveryIds: string[]): Promise<AttemptRecord[]> {
  const { rows } = await db.query<AttemptRecord>(
    `select delivery_id as "deliveryId", attempt_number as "attemptNumber", status, status_code as "statusCode", error, latency,
            started_at as "startedAt", completed_at as "completedAt", request_headers as "requestHeaders",
            response_headers as "responseHeaders", response_body as "responseBody"
     from attempts where delivery_id = any($1::text[]) order by delivery_id, attempt_number`,
    [deliveryIds],
  );
  return rows;
}

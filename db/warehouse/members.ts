// The deliveries of a batch: what its file is made of, and which of them have not ended. Planned for every call, as the
// statements on batches (batches.ts), but for the one that reads events.
import type { Queryable } from '../connections/pool.ts';
import type { AttemptContext } from '../hot-path/load-attempts.ts';
import { countOutcomes } from '../hot-path/record-results.ts';
import { statementOfDay, type Tables } from '../sql/partitions.ts';
import { bounds, type Fragment, fragment, sql } from '../connections/statements.ts';
import { PRIMARY_DESTINATION } from '../sql/rules.ts';
import type { BatchUnderWay, WaitingRow } from './batches.ts';

export interface BatchMember
  extends Pick<WaitingRow, 'deliveryId' | 'eventId' | 'routeId' | 'sourceSlug' | 'payloadSize' | 'receivedAt'> {
  replayOf: string | null;
  isTransformed: boolean;
}

/**
 * The deliveries of a batch's file, in the order of its rows. A delivery that ended otherwise (its event was deleted,
 * its transform failed) has no row in this upload and in later ones. A delivered one has a row: an upload that was
 * overtaken by a newer one must not write less than that one.
 */
export async function batchContent(db: Queryable, batch: BatchUnderWay): Promise<BatchMember[]> {
  return sql(db).rows<BatchMember>`
    select d.id as "deliveryId", d.event_id as "eventId", d.route_id as "routeId", d.replay_of as "replayOf",
           s.slug as "sourceSlug", d.transform_version is not null as "isTransformed",
           e.payload_size as "payloadSize", e.received_at as "receivedAt"
    from deliveries d
    left join lateral (select payload_size, received_at from events where id = d.event_id limit 1) e on true
    left join sources s on s.id = d.source_id
    where ${isIn(batch)} and d.status in ('pending', 'delivered')
    order by e.received_at, d.event_id, d.id`;
}

interface EventContent {
  id: string;
  /** JSON of an object; names in lowercase. */
  headers: string;
  /** The payload if it is text without NUL; null: it is in `bytes`, or was removed by the retention. */
  text: string | null;
  bytes: Buffer | null;
}

// Text crosses as text: in hexadecimal it would be twice as long, and would have to be decoded. `lateral` with a limit
// is one probe each.
const EVENTS = `
select e.id, e.headers::text as headers, case when p.is_text then convert_from(p.body, 'UTF8') end as text,
       case when not p.is_text then p.body end as bytes
from events e
left join lateral (select is_text, body from event_payloads where event_id = e.id and event_id between $2 and $3
  limit 1) p on true
where e.id = any($1::text[]) and e.id between $2 and $3`;

export async function readEvents(db: Queryable, eventIds: string[]): Promise<Map<string, EventContent>> {
  if (eventIds.length === 0) return new Map();
  const { ids, low, high } = bounds(eventIds);
  const { rows } = await db.query<EventContent>({ name: 'events-of-files', text: EVENTS, values: [ids, low, high] });
  return new Map(rows.map((row) => [row.id, row]));
}

/** A delivery that has not ended. */
export type OpenMember = Pick<
  AttemptContext,
  'deliveryId' | 'eventId' | 'routeId' | 'routeVersion' | 'attemptCount' | 'originalDestinationId'
>;

/** Deliveries of a batch that have not ended, in the order of their ids. */
export async function openMembers(
  db: Queryable,
  batch: BatchUnderWay,
  { after, limit }: { after: string; limit: number },
): Promise<OpenMember[]> {
  return sql(db).rows<OpenMember>`
    select d.id as "deliveryId", d.event_id as "eventId", d.route_id as "routeId", d.route_version as "routeVersion",
           d.attempt_count as "attemptCount", d.original_destination_id as "originalDestinationId"
    from deliveries d where ${isIn(batch)} and d.status = 'pending' and d.id > ${after} order by d.id limit ${limit}`;
}

const isIn = ({ id, destinationId, firstDeliveryId, lastDeliveryId }: BatchUnderWay): Fragment =>
  fragment`d.destination_id = ${destinationId} and d.id between ${firstDeliveryId} and ${lastDeliveryId}
    and d.batch_id = ${id}`;

// Records that the deliveries of a file were made: all of them had the same attempt, so it is a parameter, and not a
// row for each.

// Safe under concurrency as the recording of results (hot-path/record-results.ts): a delivery changes only while it is
// open, so that recording the same again changes and counts nothing. It left the outbox when its file was frozen.
// Deliveries are found by parameters alone, without a join (docs/internals/postgresql-18.md).
const recording = ({ events, deliveries, attempts }: Tables) => `
with changed as (
  update ${deliveries} d
  set status = 'delivered', attempt_count = d.attempt_count + 1, status_code = $5::int, latency = $6::int, error = null,
      error_summary = null, next_attempt_at = null, lane = coalesce(d.lane, 'workflow'), delivered_at = $9,
      finished_at = $9
  where d.id = any($1::text[]) and d.id between $2 and $3 and d.batch_id = $4 and d.status = 'pending'
  returning d.id, d.organization_id, d.event_id, d.source_id, d.destination_id, d.route_id, d.counted,
    ${PRIMARY_DESTINATION} as primary_id, d.status as delivery_status, d.attempt_count as attempt, d.status_code,
    d.error,
    d.error_summary, d.latency, $7::int as latency_class, d.finished_at as completed_at
), tried as (
  insert into ${attempts} (delivery_id, attempt_number, status, status_code, latency, started_at, completed_at,
    request_headers)
  select id, attempt, 'success', status_code, latency, $8::timestamptz, completed_at, '{}'::jsonb from changed
  on conflict do nothing
), ${countOutcomes(events)}
select array(select id from changed) as ids, (select written from noted) as notifications`;

const statementFor = statementOfDay('record-written', recording);

interface WrittenAttempt {
  statusCode: number;
  /** ms */
  latency: number;
  /** Upper edge of the latency's class (core/metrics/latency-classes.ts). */
  latencyClass: number;
  startedAt: Date;
  completedAt: Date;
}

type Member = Pick<OpenMember, 'deliveryId' | 'eventId'>;

/**
 * @returns the ids of those that changed; one that is missing has ended before
 * @throws a database error; nothing is recorded then and the same call may be repeated
 */
export async function recordWritten(
  db: Queryable,
  { batchId, members, attempt }: { batchId: string; members: Member[]; attempt: WrittenAttempt },
): Promise<string[]> {
  const { ids, low, high } = bounds(members.map(({ deliveryId }) => deliveryId));
  const events = bounds(members.map(({ eventId }) => eventId));
  const { statusCode, latency, latencyClass, startedAt, completedAt } = attempt;
  const { rows } = await db.query<{ ids: string[] }>({
    ...statementFor(events.low, events.high, low, high),
    values: [...[ids, low, high, batchId], ...[statusCode, latency, latencyClass, startedAt, completedAt]],
  });
  return rows[0]?.ids ?? [];
}

// Records that the deliveries of a file were made: all of them had the same attempt, so it is a parameter, and not a row for each.
// Rules: EVT-13.
import { countOutcomes } from '../hot-path/record-results.ts';
import { statementOfDay, type Tables } from '../sql/partitions.ts';
import { bounds } from '../connections/parameters.ts';
import { PRIMARY_DESTINATION } from '../sql/rules.ts';
import type { Queryable } from '../connections/pool.ts';
import type { OpenMember } from './members.ts';

// Safe under concurrency as the recording of results (hot-path/record-results.ts): a delivery changes only while it is open, so that
// recording the same again changes and counts nothing. It left the outbox when its file was frozen. Deliveries are found by
// parameters alone, without a join (docs/postgresql-18-lost-update.md).
const recording = ({ events, deliveries, attempts }: Tables) => `
with changed as (
  update ${deliveries} d
  set status = 'delivered', attempt_count = d.attempt_count + 1, status_code = $5::int, latency = $6::int, error = null,
      error_summary = null, next_attempt_at = null, lane = coalesce(d.lane, 'workflow'), delivered_at = $9, finished_at = $9
  where d.id = any($1::text[]) and d.id between $2 and $3 and d.batch_id = $4 and d.status = 'pending'
  returning d.id, d.organization_id, d.event_id, d.source_id, d.destination_id, d.route_id, d.counted,
    ${PRIMARY_DESTINATION} as primary_id, d.status as delivery_status, d.attempt_count as attempt, d.status_code, d.error,
    d.error_summary, d.latency, $7::int as latency_class, d.finished_at as completed_at
), tried as (
  insert into ${attempts} (delivery_id, attempt_number, status, status_code, latency, started_at, completed_at, request_headers)
  select id, attempt, 'success', status_code, latency, $8::timestamptz, completed_at, '{}'::jsonb from changed
  on conflict do nothing
), ${countOutcomes(events)}
select array(select id from changed) as ids, (select written from noted) as notifications`;

const statementFor = statementOfDay('record-written', recording);

/** The attempt of all deliveries of a file. */
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
 * Records some deliveries of a batch as delivered.
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

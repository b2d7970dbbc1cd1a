// Reads the roll-ups of db/schema/07-counts.sql: totals of all time are in the bucket 'epoch', windows are sums of buckets: of 5 minutes
// inside the last day, of an hour before (merge-buckets.ts). Deliveries that were never sent (`unsent`) count as
// failures of the route only. Events are also in `ingest_counts`, until they are folded in. Cancelled deliveries are neither successes nor failures.
// Rules: HEALTH-01 to HEALTH-09, ROUTE-39.
import { percentilesOf } from '../../../core/latency-classes.ts';
import type { Queryable } from '../../connections/pool.ts';
import { ALL_TIME, INGESTED } from '../../sql-rules.ts';

/** Events of a source or a route since it was made. */
export interface IngestTotals {
  events: number;
  lastEventAt: Date | null;
}

const NO_EVENTS: IngestTotals = { events: 0, lastEventAt: null };

/** Totals of sources or routes by id, in one query; `get` of an id without events gives zeros. */
export async function ingestTotals(db: Queryable, subjectIds: string[]): Promise<Lookup<IngestTotals>> {
  const { rows } = await db.query<{ id: string; events: number; last_event_at: Date | null }>(
    `select subject_id as id, sum(events)::float8 as events, max(last_event_at) as last_event_at from ${INGESTED}
     where subject_id = any($1::text[]) and bucket = ${ALL_TIME} group by subject_id`,
    [subjectIds],
  );
  return lookup(
    rows.map((row) => [row.id, { events: row.events, lastEventAt: row.last_event_at }]),
    NO_EVENTS,
  );
}

export interface DestinationTotals {
  /** Percent of finished deliveries inside the window, two decimals; null when there was none. */
  successRate: number | null;
  /** Mean of attempts with a response inside the window, ms; null when there was none. */
  avgLatency: number | null;
  /** Finished deliveries of all time. */
  deliveriesCount: number;
  lastDeliveryAt: Date | null;
}

const NO_DELIVERIES: DestinationTotals = {
  successRate: null,
  avgLatency: null,
  deliveriesCount: 0,
  lastDeliveryAt: null,
};

// `in_window` is false for the bucket 'epoch', which holds the totals. Two look-ups for each destination instead of one with
// `or`: both find their buckets in the index, whatever lies between them.
const DESTINATION_TOTALS = `
select destination_id as id,
       sum(succeeded) filter (where in_window)::float8 as succeeded, sum(failed + failed_over) filter (where in_window)::float8 as failed,
       sum(latency_sum) filter (where in_window)::float8 as latency_sum,
       sum(latency_count) filter (where in_window)::float8 as latency_count,
       sum(succeeded + failed + failed_over) filter (where not in_window)::float8 as deliveries,
       max(last_delivery_at) filter (where not in_window) as last_delivery_at
from unnest($1::text[]) as d(id)
cross join lateral (
  select *, false as in_window from delivery_stats t where t.destination_id = d.id collate "C" and t.bucket = ${ALL_TIME}
  union all
  select *, true from delivery_stats t where t.destination_id = d.id collate "C" and t.bucket > now() - make_interval(hours => $2)
) s group by destination_id`;

interface TotalsRow {
  id: string;
  succeeded: number | null;
  failed: number | null;
  latency_sum: number | null;
  latency_count: number | null;
  deliveries: number | null;
  last_delivery_at: Date | null;
}

/** Statistics of destinations by id, in one query. @param windowHours length of the recent window */
export async function destinationTotals(
  db: Queryable,
  destinationIds: string[],
  windowHours: number,
): Promise<Lookup<DestinationTotals>> {
  const { rows } = await db.query<TotalsRow>(DESTINATION_TOTALS, [destinationIds, windowHours]);
  return lookup(
    rows.map((row) => [
      row.id,
      {
        successRate: rate(row.succeeded ?? 0, row.failed ?? 0),
        avgLatency: row.latency_count ? Math.round((row.latency_sum ?? 0) / row.latency_count) : null,
        deliveriesCount: row.deliveries ?? 0,
        lastDeliveryAt: row.last_delivery_at,
      },
    ]),
    NO_DELIVERIES,
  );
}

/** The health of a destination as the API shows it; times as Dates. Without recent deliveries the figures are 0. */
export interface DestinationHealth {
  successRate: number;
  avgLatency: number;
  p50Latency: number;
  p95Latency: number;
  p99Latency: number;
  totalDeliveries: number;
  successfulDeliveries: number;
  failedDeliveries: number;
  lastDeliveryAt: Date | null;
  lastSuccessAt: Date | null;
  lastFailureAt: Date | null;
  status: 'healthy' | 'degraded' | 'failing' | 'unknown';
}

const HEALTH = `
select coalesce(sum(succeeded) filter (where in_window), 0)::float8 as succeeded,
       coalesce(sum(failed + failed_over) filter (where in_window), 0)::float8 as failed,
       coalesce(sum(latency_sum) filter (where in_window), 0)::float8 as latency_sum,
       coalesce(sum(latency_count) filter (where in_window), 0)::float8 as latency_count,
       max(last_delivery_at) as last_delivery_at, max(last_success_at) as last_success_at, max(last_failure_at) as last_failure_at
from (
  select *, false as in_window from delivery_stats where destination_id = $1 and bucket = ${ALL_TIME}
  union all
  select *, true from delivery_stats where destination_id = $1 and bucket > now() - make_interval(hours => $2)
) s`;

// Histograms of the time: of up to a day in buckets of 5 minutes, of longer ones in hours, and what is not packed yet.
const LATENCIES = `
select counts from latency_history
where destination_id = $1 and step = case when $2 <= 24 then 300 else 3600 end and bucket > now() - make_interval(hours => $2)
union all
select json_build_array(latency, attempts) from latency_stats where destination_id = $1 and bucket > now() - make_interval(hours => $2)`;

/** Health of a destination over the last `windowHours`; the three last times are of all time. */
export async function destinationHealth(
  db: Queryable,
  destinationId: string,
  windowHours: number,
): Promise<DestinationHealth> {
  const [figures, histograms] = await Promise.all([
    db.query<{
      succeeded: number;
      failed: number;
      latency_sum: number;
      latency_count: number;
      last_delivery_at: Date | null;
      last_success_at: Date | null;
      last_failure_at: Date | null;
    }>(HEALTH, [destinationId, windowHours]),
    db.query<{ counts: number[] }>(LATENCIES, [destinationId, windowHours]),
  ]);
  const row = figures.rows[0];
  const { latencies } = percentilesOf(
    histograms.rows.map(({ counts }) => counts),
    [50, 95, 99],
  );
  const [p50, p95, p99] = latencies;
  const succeeded = row?.succeeded ?? 0;
  const failed = row?.failed ?? 0;
  return {
    successRate: rate(succeeded, failed) ?? 0,
    avgLatency: row?.latency_count ? Math.round(row.latency_sum / row.latency_count) : 0,
    p50Latency: p50 ?? 0,
    p95Latency: p95 ?? 0,
    p99Latency: p99 ?? 0,
    totalDeliveries: succeeded + failed,
    successfulDeliveries: succeeded,
    failedDeliveries: failed,
    lastDeliveryAt: row?.last_delivery_at ?? null,
    lastSuccessAt: row?.last_success_at ?? null,
    lastFailureAt: row?.last_failure_at ?? null,
    status: healthStatus(succeeded, failed),
  };
}

/** HEALTH-06 to HEALTH-09 */
function healthStatus(succeeded: number, failed: number): DestinationHealth['status'] {
  const finished = succeeded + failed;
  if (finished === 0) return 'unknown';
  const percent = (100 * succeeded) / finished;
  if (percent > 95) return 'healthy';
  return percent >= 80 ? 'degraded' : 'failing';
}

export interface RouteStatistics {
  eventsRouted: number;
  eventsFiltered: number;
  deliveriesSucceeded: number;
  deliveriesFailed: number;
  /** ms; 0 when no attempt got a response */
  avgLatency: number;
}

/** Statistics of a route over the last `hours`. */
export async function routeStatistics(db: Queryable, routeId: string, hours: number): Promise<RouteStatistics> {
  const { rows } = await db.query<RouteStatistics>(
    `select coalesce(i.events, 0)::float8 as "eventsRouted", coalesce(i.filtered, 0)::float8 as "eventsFiltered",
            coalesce(d.succeeded, 0)::float8 as "deliveriesSucceeded", coalesce(d.failed, 0)::float8 as "deliveriesFailed",
            coalesce(round(d.latency_sum / nullif(d.latency_count, 0)), 0)::float8 as "avgLatency"
     from (select sum(events) as events, sum(filtered) as filtered from ${INGESTED}
           where subject_id = $1 and bucket > now() - make_interval(hours => $2)) i,
          (select sum(succeeded) as succeeded, sum(failed + unsent) as failed, sum(latency_sum) as latency_sum, sum(latency_count) as latency_count
           from delivery_stats where route_id = $1 and bucket > now() - make_interval(hours => $2)) d`,
    [routeId, hours],
  );
  return rows[0] ?? { eventsRouted: 0, eventsFiltered: 0, deliveriesSucceeded: 0, deliveriesFailed: 0, avgLatency: 0 };
}

/** Percent with two decimals. */
function rate(succeeded: number, failed: number): number | null {
  const finished = succeeded + failed;
  return finished === 0 ? null : Math.round((10_000 * succeeded) / finished) / 100;
}

/** Values by id with a default for ids that have none. */
export interface Lookup<Value> {
  get(id: string): Value;
}

function lookup<Value>(entries: [string, Value][], fallback: Value): Lookup<Value> {
  const map = new Map(entries);
  return { get: (id) => map.get(id) ?? fallback };
}

/** When attempts of a route's deliveries to these destinations last succeeded and failed. */
export async function lastAttempts(
  db: Queryable,
  routeId: string,
  destinationIds: string[],
): Promise<{ lastSuccessAt: Date | null; lastFailureAt: Date | null }> {
  const { rows } = await db.query<{ lastSuccessAt: Date | null; lastFailureAt: Date | null }>(
    `select max(last_success_at) as "lastSuccessAt", max(last_failure_at) as "lastFailureAt" from delivery_stats
     where route_id = $1 and bucket = ${ALL_TIME} and destination_id = any($2::text[])`,
    [routeId, destinationIds],
  );
  return rows[0] ?? { lastSuccessAt: null, lastFailureAt: null };
}

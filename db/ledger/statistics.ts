// Statistics of sources, routes and destinations, from the ledger. Windows are sums of buckets: of 5 minutes inside the
// last day, of an hour before. Deliveries without an attempt count as failures of their route only, and cancelled ones
// are neither successes nor failures.
import { percentilesOf } from '../../core/metrics/latency-classes.ts';
import type { Queryable } from '../connections/pool.ts';
import { ever, recent } from './entries.ts';

export interface IngestTotals {
  events: number;
  lastEventAt: Date | null;
}

const NO_EVENTS: IngestTotals = { events: 0, lastEventAt: null };

/** Totals of sources or routes by id, in one query; `get` of an id without events gives zeros. */
export async function ingestTotals(
  db: Queryable,
  organizationId: string,
  kind: 'source' | 'route',
  ids: string[],
): Promise<Lookup<IngestTotals>> {
  const events = kind === 'route' ? 'routed' : 'events';
  const { rows } = await db.query<{ id: string; events: number; last_event_at: Date | null }>(
    `select ${kind}_id as id, coalesce(sum(${events}), 0)::float8 as events, max(last_event_at) as last_event_at
     from ${ever(`organization_id = $1 and destination_id = '' and ${kind}_id = any($2)`)} l group by 1`,
    [organizationId, ids],
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
  deliveriesCount: number;
  lastDeliveryAt: Date | null;
}

const NO_DELIVERIES: DestinationTotals = {
  successRate: null,
  avgLatency: null,
  deliveriesCount: 0,
  lastDeliveryAt: null,
};

const WITH_ATTEMPT = 'filter (where code >= 0)';
const ANSWERS = `
  coalesce(sum(delivered), 0)::float8 as succeeded,
  coalesce(sum(failed + failed_over) ${WITH_ATTEMPT}, 0)::float8 as failed,
  coalesce(sum(latency_sum), 0)::float8 as latency_sum,
  coalesce(sum(attempts) filter (where code > 0), 0)::float8 as latency_count`;
const LAST = `
  greatest(max(last_success_at), max(last_failure_at)) as last_delivery_at, max(last_success_at) as last_success_at,
  max(last_failure_at) as last_failure_at`;
const inWindow = (condition: string) => recent(`${condition} and bucket > now() - make_interval(hours => $2)`);

const DESTINATION_TOTALS = `
select id, w.succeeded, w.failed, w.latency_sum, w.latency_count, e.succeeded + e.failed as deliveries,
       e.last_delivery_at
from (select destination_id as id, ${ANSWERS}, ${LAST} from ${ever('destination_id = any($1)')} l group by 1) e
left join (select destination_id as id, ${ANSWERS} from ${inWindow('destination_id = any($1)')} l
  group by 1) w using (id)`;

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
select w.*, e.* from (select ${ANSWERS} from ${inWindow('destination_id = $1')} l) w,
  (select ${LAST} from ${ever('destination_id = $1')} l) e`;

const LATENCIES = `select latencies as counts from ${inWindow('destination_id = $1')} l where latencies is not null`;

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
    db.query<{ counts: number[][] }>(LATENCIES, [destinationId, windowHours]),
  ]);
  const row = figures.rows[0];
  const { latencies } = percentilesOf(
    histograms.rows.flatMap(({ counts }) => counts),
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

export async function routeStatistics(db: Queryable, routeId: string, hours: number): Promise<RouteStatistics> {
  const { rows } = await db.query<RouteStatistics>(
    `select coalesce(sum(routed), 0)::float8 as "eventsRouted", coalesce(sum(filtered), 0)::float8 as "eventsFiltered",
            coalesce(sum(delivered), 0)::float8 as "deliveriesSucceeded",
            (coalesce(sum(failed), 0) + coalesce(sum(not_sent), 0))::float8 as "deliveriesFailed",
            coalesce(round(sum(latency_sum) / nullif(sum(attempts) filter (where code > 0), 0)),
              0)::float8 as "avgLatency"
     from ${inWindow('route_id = $1')} l`,
    [routeId, hours],
  );
  return rows[0] ?? { eventsRouted: 0, eventsFiltered: 0, deliveriesSucceeded: 0, deliveriesFailed: 0, avgLatency: 0 };
}

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

export async function lastAttempts(
  db: Queryable,
  routeId: string,
  destinationIds: string[],
): Promise<{ lastSuccessAt: Date | null; lastFailureAt: Date | null }> {
  const { rows } = await db.query<{ lastSuccessAt: Date | null; lastFailureAt: Date | null }>(
    `select max(last_success_at) as "lastSuccessAt", max(last_failure_at) as "lastFailureAt"
     from ${ever('route_id = $1 and destination_id = any($2)')} l`,
    [routeId, destinationIds],
  );
  return rows[0] ?? { lastSuccessAt: null, lastFailureAt: null };
}

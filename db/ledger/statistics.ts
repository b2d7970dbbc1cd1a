// Statistics of sources, routes and destinations, from the ledger. Windows are sums of buckets: of 5 minutes inside the
// last day, of an hour before. Deliveries without an attempt count as failures of their route only, and cancelled ones
// are neither successes nor failures.
import { percentilesOf } from '../../core/metrics/latency-classes.ts';
import type { Queryable } from '../connections/pool.ts';
import { ever, recent } from './entries.ts';
import { type Fragment, fragment, raw, sql } from '../connections/statements.ts';

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
  const id = raw(`${kind}_id`);
  const ofThese = fragment`organization_id = ${organizationId} and destination_id = '' and ${id} = any(${ids}::text[])`;
  const rows = await sql(db).rows<IngestTotals & { id: string }>`
    select ${id} as id, coalesce(sum(${raw(events)}), 0)::float8 as events, max(last_event_at) as last_event_at
    from ${ever(ofThese)} l group by 1`;
  return lookup(
    rows.map(({ id, ...totals }) => [id, totals]),
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

const AVG_LATENCY = raw('round(sum(latency_sum) / nullif(sum(attempts) filter (where code > 0), 0))::float8');
const ANSWERS = fragment`
  coalesce(sum(delivered), 0)::float8 as succeeded,
  coalesce(sum(failed + failed_over) filter (where code >= 0), 0)::float8 as failed, ${AVG_LATENCY} as avg_latency`;
const LAST = raw(`
  greatest(max(last_success_at), max(last_failure_at)) as last_delivery_at, max(last_success_at) as last_success_at,
  max(last_failure_at) as last_failure_at`);
const inWindow = (condition: Fragment, hours: number) =>
  recent(fragment`${condition} and bucket > now() - make_interval(hours => ${hours})`);

interface TotalsRow extends Omit<DestinationTotals, 'successRate'> {
  id: string;
  succeeded: number;
  failed: number;
}

/** Statistics of destinations by id, in one query. @param windowHours length of the recent window */
export async function destinationTotals(
  db: Queryable,
  destinationIds: string[],
  windowHours: number,
): Promise<Lookup<DestinationTotals>> {
  const ofThese = fragment`destination_id = any(${destinationIds}::text[])`;
  const rows = await sql(db).rows<TotalsRow>`
    select id, coalesce(w.succeeded, 0) as succeeded, coalesce(w.failed, 0) as failed, w.avg_latency,
           e.succeeded + e.failed as deliveries_count, e.last_delivery_at
    from (select destination_id as id, ${ANSWERS}, ${LAST} from ${ever(ofThese)} l group by 1) e
    left join (select destination_id as id, ${ANSWERS} from ${inWindow(ofThese, windowHours)} l group by 1) w
      using (id)`;
  return lookup(
    rows.map(({ id, succeeded, failed, ...totals }) => [id, { ...totals, successRate: rate(succeeded, failed) }]),
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

export async function destinationHealth(
  db: Queryable,
  destinationId: string,
  windowHours: number,
): Promise<DestinationHealth> {
  const ofThis = fragment`destination_id = ${destinationId}`;
  const [figures, histograms] = await Promise.all([
    sql(db).only<DestinationHealth>`
      select w.succeeded as successful_deliveries, w.failed as failed_deliveries,
             w.succeeded + w.failed as total_deliveries, coalesce(w.avg_latency, 0) as avg_latency, e.*
      from (select ${ANSWERS} from ${inWindow(ofThis, windowHours)} l) w,
        (select ${LAST} from ${ever(ofThis)} l) e`,
    sql(db).column<number[][]>`
      select latencies from ${inWindow(ofThis, windowHours)} l where latencies is not null`,
  ]);
  const { latencies } = percentilesOf(histograms.flat(), [50, 95, 99]);
  const [p50, p95, p99] = latencies;
  const successRate = rate(figures.successfulDeliveries, figures.failedDeliveries);
  return {
    ...figures,
    p50Latency: p50 ?? 0,
    p95Latency: p95 ?? 0,
    p99Latency: p99 ?? 0,
    successRate: successRate ?? 0,
    status: healthStatus(figures.successfulDeliveries, figures.failedDeliveries),
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

export function routeStatistics(db: Queryable, routeId: string, hours: number): Promise<RouteStatistics> {
  return sql(db).only<RouteStatistics>`
    select coalesce(sum(routed), 0)::float8 as events_routed, coalesce(sum(filtered), 0)::float8 as events_filtered,
           coalesce(sum(delivered), 0)::float8 as deliveries_succeeded,
           (coalesce(sum(failed), 0) + coalesce(sum(not_sent), 0))::float8 as deliveries_failed,
           coalesce(${AVG_LATENCY}, 0) as avg_latency
    from ${inWindow(fragment`route_id = ${routeId}`, hours)} l`;
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

export function lastAttempts(
  db: Queryable,
  routeId: string,
  destinationIds: string[],
): Promise<Pick<DestinationHealth, 'lastSuccessAt' | 'lastFailureAt'>> {
  const ofThese = fragment`route_id = ${routeId} and destination_id = any(${destinationIds}::text[])`;
  return sql(db).only`
    select max(last_success_at) as last_success_at, max(last_failure_at) as last_failure_at from ${ever(ofThese)} l`;
}

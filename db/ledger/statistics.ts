// Statistics of sources, routes and destinations, from the ledger. Windows are sums of buckets: of 5 minutes inside the
// last day, of an hour before. Deliveries without an attempt count as failures of their route only, and cancelled ones
// are neither successes nor failures.
import { percentilesOf } from '../../core/metrics/latency-classes.ts';
import { onlyRow, type Queryable } from '../connections/pool.ts';
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
  const { rows } = await db.query<IngestTotals & { id: string }>(
    `select ${kind}_id as id, coalesce(sum(${events}), 0)::float8 as events, max(last_event_at) as "lastEventAt"
     from ${ever(`organization_id = $1 and destination_id = '' and ${kind}_id = any($2)`)} l group by 1`,
    [organizationId, ids],
  );
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

const AVG_LATENCY = 'round(sum(latency_sum) / nullif(sum(attempts) filter (where code > 0), 0))::float8';
const ANSWERS = `
  coalesce(sum(delivered), 0)::float8 as succeeded,
  coalesce(sum(failed + failed_over) filter (where code >= 0), 0)::float8 as failed,
  ${AVG_LATENCY} as "avgLatency"`;
const LAST = `
  greatest(max(last_success_at), max(last_failure_at)) as "lastDeliveryAt", max(last_success_at) as "lastSuccessAt",
  max(last_failure_at) as "lastFailureAt"`;
const inWindow = (condition: string) => recent(`${condition} and bucket > now() - make_interval(hours => $2)`);

const DESTINATION_TOTALS = `
select id, coalesce(w.succeeded, 0) as succeeded, coalesce(w.failed, 0) as failed, w."avgLatency",
       e.succeeded + e.failed as "deliveriesCount", e."lastDeliveryAt"
from (select destination_id as id, ${ANSWERS}, ${LAST} from ${ever('destination_id = any($1)')} l group by 1) e
left join (select destination_id as id, ${ANSWERS} from ${inWindow('destination_id = any($1)')} l
  group by 1) w using (id)`;

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
  const { rows } = await db.query<TotalsRow>(DESTINATION_TOTALS, [destinationIds, windowHours]);
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

const HEALTH = `
select w.succeeded as "successfulDeliveries", w.failed as "failedDeliveries",
       w.succeeded + w.failed as "totalDeliveries", coalesce(w."avgLatency", 0) as "avgLatency", e.*
from (select ${ANSWERS} from ${inWindow('destination_id = $1')} l) w,
  (select ${LAST} from ${ever('destination_id = $1')} l) e`;

const LATENCIES = `select latencies as counts from ${inWindow('destination_id = $1')} l where latencies is not null`;

export async function destinationHealth(
  db: Queryable,
  destinationId: string,
  windowHours: number,
): Promise<DestinationHealth> {
  const [figures, histograms] = await Promise.all([
    onlyRow<DestinationHealth>(db, HEALTH, [destinationId, windowHours]),
    db.query<{ counts: number[][] }>(LATENCIES, [destinationId, windowHours]),
  ]);
  const { latencies } = percentilesOf(
    histograms.rows.flatMap(({ counts }) => counts),
    [50, 95, 99],
  );
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

const ROUTE_STATISTICS = `
select coalesce(sum(routed), 0)::float8 as "eventsRouted", coalesce(sum(filtered), 0)::float8 as "eventsFiltered",
       coalesce(sum(delivered), 0)::float8 as "deliveriesSucceeded",
       (coalesce(sum(failed), 0) + coalesce(sum(not_sent), 0))::float8 as "deliveriesFailed",
       coalesce(${AVG_LATENCY}, 0) as "avgLatency"
from ${inWindow('route_id = $1')} l`;

export function routeStatistics(db: Queryable, routeId: string, hours: number): Promise<RouteStatistics> {
  return onlyRow(db, ROUTE_STATISTICS, [routeId, hours]);
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

const LAST_ATTEMPTS = `
select max(last_success_at) as "lastSuccessAt", max(last_failure_at) as "lastFailureAt"
from ${ever('route_id = $1 and destination_id = any($2)')} l`;

export function lastAttempts(
  db: Queryable,
  routeId: string,
  destinationIds: string[],
): Promise<Pick<DestinationHealth, 'lastSuccessAt' | 'lastFailureAt'>> {
  return onlyRow(db, LAST_ATTEMPTS, [routeId, destinationIds]);
}

// The figures of an organization counted again from its events, deliveries and attempts, row by row and without any
// roll-up.
import { latencyClass } from '../../../core/metrics/latency-classes.ts';
import type { FigureAnswer, FigureQuestion, Figures } from '../../../db/ledger/figures.ts';
import type { Pool } from '../../../db/connections/pool.ts';

/** Something that happened once. */
interface Fact {
  at: Date;
  source: string;
  route: string;
  destination: string;
  /** Of deliveries how they ended. */
  kind: string;
  statusCode: number | null;
  latency: number;
}

/**
 * What the rows do not hold: that a filter of a route refused an event, or that a webhook was refused for a cause
 * (`kind`).
 */
export type Refusal = Pick<Fact, 'at' | 'source'> & Partial<Pick<Fact, 'route' | 'kind'>>;

const VISIBLE = 'exists (select from sources s where s.id = d.source_id)';

const STATEMENTS = {
  events: `select d.received_at as at, d.source_id as source from events d where d.organization_id = $1 and ${VISIBLE}`,
  eventsOfRoutes: `
    select distinct e.id, e.received_at as at, d.source_id as source, d.route_id as route
    from deliveries d join events e on e.id = d.event_id join routes r on r.id = d.route_id
    where d.organization_id = $1 and d.failover_of is null and d.replay_of is null and ${VISIBLE}`,
  deliveries: `
    select d.finished_at as at, d.source_id as source, d.route_id as route, d.destination_id as destination,
           case when d.status in ('schema_failed', 'filter_failed') then 'notSent'
                when d.status = 'failed_over' then 'failedOver'
                when d.status = 'failed' and not exists (select from attempts a where a.delivery_id = d.id
                  and a.attempt_number = d.attempt_count and a.completed_at = d.finished_at) then 'notSent'
                else d.status end as kind
    from deliveries d where d.organization_id = $1 and d.status in ('delivered', 'failed', 'failed_over', 'schema_failed', 'filter_failed', 'cancelled')
      and ${VISIBLE}`,
  // One that ended after its delivery was cancelled is in its history only.
  attempts: `
    select a.completed_at as at, d.source_id as source, d.route_id as route, d.destination_id as destination,
           a.status_code as "statusCode", a.latency
    from deliveries d join attempts a on a.delivery_id = d.id and a.attempt_number <= d.attempt_count
    where d.organization_id = $1 and ${VISIBLE}`,
};

async function factsOf(pool: Pool, question: FigureQuestion, refusals: Refusal[]): Promise<Partial<Fact>[]> {
  const { metric, groupBy, where, organizationId } = question;
  if (metric === 'filtered' || metric === 'refused') return refusals;
  const byRoute = metric === 'events' && (groupBy === 'route' || where.routeId !== undefined);
  const name = metric === 'latency' ? 'attempts' : byRoute ? 'eventsOfRoutes' : metric;
  const { rows } = await pool.query<Partial<Fact>>(STATEMENTS[name], [organizationId]);
  if (metric !== 'latency') return rows;
  const alive = await pool.query<{ id: string }>('select id from destinations');
  const ids = new Set(alive.rows.map(({ id }) => id));
  return rows.filter((fact) => fact.statusCode !== null && ids.has(fact.destination ?? ''));
}

/** An answer as a map: of each group its total, and its steps by their time. */
export type Told = Record<string, { total: Figures; points: Record<string, Figures> }>;

export function told({ series }: FigureAnswer): Told {
  return Object.fromEntries(
    series.map(({ id, total, points }) => [
      String(id),
      { total, points: Object.fromEntries(points.map(({ at, figures }) => [at, figures])) },
    ]),
  );
}

/** What the answer to a question must be. */
export async function recount(pool: Pool, question: FigureQuestion, refusals: Refusal[]): Promise<Told> {
  const { metric, groupBy, where, from, to, step } = question;
  const all = await factsOf(pool, question, refusals);
  const facts = all.filter(
    ({ at, source, route, destination }) =>
      at !== undefined &&
      at >= from &&
      at < to &&
      (where.sourceId ?? source) === source &&
      (where.routeId ?? route) === route &&
      (where.destinationId ?? destination) === destination,
  );
  const groupOf = (fact: Partial<Fact>) =>
    groupBy === null ? 'null' : groupBy === 'statusCode' ? codeOf(fact) : String(fact[groupBy]);
  const stepOf = ({ at }: Partial<Fact>) => {
    const seconds = Math.floor((at?.getTime() ?? 0) / 1000);
    return new Date((seconds - (seconds % step)) * 1000).toISOString();
  };
  return mapped(facts, groupOf, (its) => ({
    total: figuresOf(metric, its, true),
    points: mapped(its, stepOf, (some) => figuresOf(metric, some, false)),
  }));
}

function mapped<Value>(
  facts: Partial<Fact>[],
  key: (fact: Partial<Fact>) => string,
  value: (facts: Partial<Fact>[]) => Value,
): Record<string, Value> {
  return Object.fromEntries([...Map.groupBy(facts, key)].map(([name, some]) => [name, value(some)]));
}

function figuresOf(metric: FigureQuestion['metric'], facts: Partial<Fact>[], isTotal: boolean): Figures {
  const count = (is: (fact: Partial<Fact>) => boolean) => facts.filter(is).length;
  if (metric === 'events' || metric === 'filtered') return { [metric]: facts.length };
  if (metric === 'refused')
    return {
      refused: facts.length,
      causes: mapped(
        facts,
        ({ kind }) => String(kind),
        (some) => some.length,
      ),
    };
  if (metric === 'deliveries')
    return Object.fromEntries(
      ['delivered', 'failed', 'failedOver', 'notSent', 'cancelled'].map((kind) => [
        kind,
        count((fact) => fact.kind === kind),
      ]),
    );
  const latencies = facts.filter(({ statusCode }) => statusCode !== null).map(({ latency = 0 }) => latency);
  if (metric === 'latency') {
    const classes = latencies.map(latencyClass).toSorted((one, other) => one - other);
    const rank = (p: number) => classes[Math.ceil(p * classes.length) - 1] ?? null;
    return { attempts: classes.length, p50: rank(0.5), p95: rank(0.95), p99: rank(0.99) };
  }
  const counts = (name: (fact: Partial<Fact>) => string) => mapped(facts, name, (some) => some.length);
  return {
    attempts: facts.length,
    avgLatency:
      latencies.length === 0
        ? null
        : Math.round(latencies.reduce((sum, latency) => sum + latency, 0) / latencies.length),
    classes: counts((fact) => {
      const code = codeOf(fact);
      return /^\d/.test(code) ? `${code[0]}xx` : code;
    }),
    ...(isTotal && { codes: counts(codeOf) }),
  };
}

function codeOf({ statusCode }: Partial<Fact>): string {
  if (statusCode === null || statusCode === undefined) return 'none';
  return statusCode < 100 || statusCode > 599 ? 'other' : String(statusCode);
}

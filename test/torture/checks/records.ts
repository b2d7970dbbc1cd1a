// Whether the records agree with each other: totals of events, attempts of deliveries, statistics, circuits. Each
// statement returns the ids of what does not.
import type { ManagementCall } from '../../../bench/support/call.ts';
import type { Pool } from '../../../db/connections/pool.ts';
import { ever, recent } from '../../../db/ledger/entries.ts';
import type { Ledger } from '../ledger.ts';
import type { Pipe } from '../pipes.ts';
import { type Problem, problems } from './problems.ts';

// What the ledger has, of all time and by time.
const COUNTED = `(
  select *, 'in all' as how from ${ever('true')} e union all select *, 'by time' from ${recent('true')} r
) l`;

// Counted are attempts, and deliveries by how they ended: \`failed\` by an attempt, which ended when they did, or
// without one. An attempt that ended after its delivery did is part of the history and not of the counts.
const DELIVERED = `
with ended as (
  select d.*, (select max(a.completed_at) from attempts a where a.delivery_id = d.id and a.attempt_number = d.attempt_count) as last_attempt_at
  from deliveries d
), expected as (
  select destination_id, coalesce(route_id, '') as route_id, count(*) filter (where status = 'delivered') as delivered,
         count(*) filter (where status = 'failed' and finished_at = last_attempt_at) as failed,
         count(*) filter (where status = 'failed_over') as failed_over, count(*) filter (where status = 'cancelled') as cancelled,
         count(*) filter (where status in ('schema_failed', 'filter_failed') or (status = 'failed' and finished_at is distinct from last_attempt_at)) as not_sent
  from ended group by 1, 2
), tried as (
  select d.destination_id, coalesce(d.route_id, '') as route_id, count(*) as attempts, sum(a.latency) filter (where a.status_code is not null) as latency_sum
  from deliveries d join attempts a on a.delivery_id = d.id and a.attempt_number <= d.attempt_count group by 1, 2
), counted as (
  select how, destination_id, route_id, sum(delivered) as delivered, sum(failed) as failed, sum(failed_over) as failed_over,
         sum(cancelled) as cancelled, sum(not_sent) as not_sent, sum(attempts) as attempts, sum(latency_sum) as latency_sum
  from ${COUNTED} group by 1, 2, 3
)
select e.destination_id || ' ' || e.route_id || ' ' || h.how as id
from expected e cross join (values ('in all'), ('by time')) h(how) left join tried t using (destination_id, route_id)
left join counted c using (destination_id, route_id, how)
where (coalesce(c.delivered, 0), coalesce(c.failed, 0), coalesce(c.failed_over, 0), coalesce(c.cancelled, 0), coalesce(c.not_sent, 0),
       coalesce(c.attempts, 0), coalesce(c.latency_sum, 0))
      is distinct from (e.delivered, e.failed, e.failed_over, e.cancelled, e.not_sent, coalesce(t.attempts, 0), coalesce(t.latency_sum, 0))`;

const AGREEMENTS: [what: string, statement: string][] = [
  [
    'events whose totals or status are not those of their deliveries',
    `select e.id from events e left join (
       select event_id, count(*) filter (where counted) as total, count(*) filter (where counted and status = 'delivered') as succeeded,
              count(*) filter (where counted and status in ('failed', 'schema_failed', 'filter_failed')) as failed
       from deliveries group by 1) d on d.event_id = e.id
     where (e.deliveries_count, e.deliveries_succeeded, e.deliveries_failed)
           is distinct from (coalesce(d.total, 0), coalesce(d.succeeded, 0), coalesce(d.failed, 0))
        or e.status <> event_status(e.deliveries_count, e.deliveries_succeeded, e.deliveries_failed)`,
  ],
  [
    'ended deliveries that do not agree with their attempts',
    `select d.id from deliveries d
     where d.status in ('delivered', 'failed')
       and ((select array_agg(a.attempt_number order by a.attempt_number) from attempts a where a.delivery_id = d.id)
              is distinct from (select array_agg(n) from generate_series(1, d.attempt_count) n)
         or (select a.status = 'success' from attempts a where a.delivery_id = d.id and a.attempt_number = d.attempt_count)
              is distinct from (d.status = 'delivered')
         or exists (select from attempts a where a.delivery_id = d.id and a.status = 'success' and a.attempt_number < d.attempt_count))`,
  ],
  [
    'deliveries that failed over without a successor, or with several',
    `select d.id from deliveries d where d.status = 'failed_over'
       and (select count(*) from deliveries s where s.failover_of = d.id and s.replay_of is null) <> 1`,
  ],
  [
    'failures without a reason',
    `select id from deliveries where status in ('failed', 'failed_over', 'skipped') and error is null`,
  ],
  ['destinations whose counts are not those of their deliveries and attempts', DELIVERED],
  [
    'latency classes that do not add up to the answered attempts',
    `select destination_id as id from (
       select destination_id, attempts, (select sum(latencies[i][2]) from generate_subscripts(latencies, 1) i) as classified
       from ${recent('code > 0')} l
     ) a group by 1 having sum(attempts) is distinct from sum(classified)`,
  ],
  [
    'sources and routes whose counts are not those of their events',
    `with expected as (
       select source_id as id, count(*) as events from events group by 1
       union all select route_id, count(distinct event_id) from deliveries where route_id is not null group by 1
     ), counted as (
       select source_id as id, how, sum(events) as events from ${COUNTED} group by 1, 2
       union all select route_id, how, sum(routed) from ${COUNTED} where route_id <> '' group by 1, 2
     )
     select e.id from expected e
     where (select count(*) from counted c where c.id = e.id and c.events = e.events) <> 2`,
  ],
  [
    'closed circuits that are not as new',
    `select c.route_id as id from circuits c join routes r on r.id = c.route_id
     where c.state = 'closed' and (c.opened_at is not null or c.probe_delivery_id is not null or c.failure_count >= r.circuit_failure_threshold)`,
  ],
];

/** Whether the records agree with each other. */
export async function recordsThatDisagree(pool: Pool): Promise<Problem[]> {
  const found: Problem[] = [];
  for (const [what, statement] of AGREEMENTS) {
    const { rows } = await pool.query<{ id: string }>(statement);
    found.push(
      ...problems(
        'wrong',
        what,
        rows.map((row) => row.id),
      ),
    );
  }
  return found;
}

/** Whether the API shows what the ledger says. */
export async function apiThatDisagrees(
  call: ManagementCall,
  organizationId: string,
  pipes: Pipe[],
  ledger: Ledger,
): Promise<Problem[]> {
  const wrong: string[] = [];
  const expect = (what: string, shown: unknown, expected: number | string) => {
    if (shown !== expected) wrong.push(`${what} shows ${String(shown)}, not ${expected}`);
  };
  const get = (path: string) => call('GET', path) as Promise<Record<string, unknown>>;
  for (const { sourceId, routeId, receivers, kind, lane } of pipes) {
    const own = [...ledger.acknowledged.values()].filter((webhook) => webhook.pipe.routeId === routeId);
    const wanted = own.filter((webhook) => webhook.wanted).length;
    const name = `${kind}-${lane}`;
    const source = await get(`/api/organizations/${organizationId}/sources/${sourceId}`);
    expect(`eventsCount of source ${name}`, source.eventsCount, own.length);
    const route = await get(`/api/routes/${routeId}`);
    expect(`circuitState of route ${name}`, route.circuitState, 'closed');
    expect(`eventsRouted of route ${name}`, route.eventsRouted, wanted);
    const stats = await get(`/api/routes/${routeId}/stats`);
    expect(`eventsFiltered of route ${name}`, stats.eventsFiltered, own.length - wanted);
    expect(`deliveries of route ${name}`, Number(stats.deliveriesSucceeded) + Number(stats.deliveriesFailed), wanted);
    for (const [id, receiver] of receivers) {
      const { deliveriesCount } = await get(`/api/destinations/${id}`);
      const health = await get(`/api/destinations/${id}/health`);
      expect(`totalDeliveries of destination ${receiver.name}`, health.totalDeliveries, Number(deliveriesCount));
    }
  }
  const list = await get(`/api/organizations/${organizationId}/events?pageSize=1`);
  expect('the list of events', (list.pagination as { total: number }).total, ledger.acknowledged.size);
  return problems('wrong', 'figures of the API', wrong);
}

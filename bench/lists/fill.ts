// Fills events, payloads, deliveries, attempts and roll-ups with a month of history, by sets, straight into the real
// schema. Everything is derived from numbers by hashing, so the same call makes the same mix.
import pMap from 'p-map';
import { ensurePartitions } from '../../db/sql/partitions.ts';
import { bucketOf } from '../../db/ledger/entries.ts';
import { inTransaction, type Pool, type Queryable } from '../../db/connections/pool.ts';
import type { FilledRecords } from './records.ts';

export const DAYS = 30;
const DAY_MS = 86_400_000;
// Days are filled side by side, one connection each.
const CONNECTIONS = 2;

export interface FillPlan {
  deliveries: number;
  /** The newest event is made at this time, ms. */
  nowMs: number;
  records: FilledRecords;
  /** Whether some of the newest deliveries are open, as in a running service. A worker continues these. */
  open: boolean;
  log: (line: string) => void;
}

/** @returns how many events and deliveries there are now */
export async function fillHistory(pool: Pool, plan: FillPlan): Promise<{ events: number; deliveries: number }> {
  const { nowMs, records } = plan;
  const openMs = plan.open ? nowMs : nowMs + DAY_MS;
  for (let day = DAYS; day >= -1; day -= 1) await ensurePartitions(pool, nowMs - day * DAY_MS);
  await pool.query(HELPERS);
  await pool.query(
    `create table bench_way as select * from json_to_recordset($1::json) as w(source int, "routeId" text, "destinationId" text,
      "failoverId" text, takes int, destination text, latency int)`,
    [JSON.stringify(records.ways)],
  );
  await pool.query(
    `create table bench_source as select (ord - 1)::int as source, id, organization_id
    from unnest($1::text[], $2::text[]) with ordinality as s(id, organization_id, ord)`,
    [records.sources.map((source) => source.id), records.sources.map((source) => source.organizationId)],
  );
  const perEvent =
    records.mix.reduce((sum, source) => sum + deliveriesPerEvent(records, source), 0) / records.mix.length;
  const total = Math.round(plan.deliveries / perEvent);
  const startMs = nowMs - (DAYS - 1) * DAY_MS - (nowMs % DAY_MS);
  const days = Array.from({ length: DAYS }, (_, day) => startMs + day * DAY_MS);
  const stepMs = (nowMs - startMs) / total;
  let filled = 0;
  const fill = async (from: number) => {
    const first = Math.ceil((from - startMs) / stepMs);
    const last = Math.min(total, Math.ceil((from + DAY_MS - startMs) / stepMs)) - 1;
    await inTransaction(pool, (db) => fillDay(db, { startMs, stepMs, first, last, nowMs, openMs, mix: records.mix }));
    filled += last - first + 1;
    plan.log(`${Math.round((100 * filled) / total)} % filled`);
  };
  await pMap(days.toReversed(), fill, { concurrency: CONNECTIONS });
  await pool.query('drop table bench_way, bench_source');
  const { rows } = await pool.query<{ events: number; deliveries: number }>(
    'select (select count(*) from events)::int as events, (select count(*) from deliveries)::int as deliveries',
  );
  return rows[0] ?? { events: 0, deliveries: 0 };
}

function deliveriesPerEvent({ ways }: FilledRecords, source: number): number {
  return ways.reduce((sum, way) => sum + (way.source === source ? way.takes / 100 : 0), 0);
}

interface Day {
  startMs: number;
  stepMs: number;
  first: number;
  last: number;
  nowMs: number;
  /** Deliveries made in the minutes and hours before this may be open. */
  openMs: number;
  mix: number[];
}

async function fillDay(db: Queryable, day: Day): Promise<void> {
  await db.query(
    `set local session_replication_role = replica; set local synchronous_commit = off; set local work_mem = '256MB'`,
  );
  await db.query(DAY_EVENTS, [day.first, day.last, day.startMs, day.stepMs, day.mix]);
  await db.query(DAY_DELIVERIES, [day.openMs]);
  await db.query('analyze day_event; analyze day_delivery');
  for (const statement of [REPLAYS, FAILOVERS]) await db.query(statement, [day.nowMs]);
  for (const statement of [EVENTS, PAYLOADS, DELIVERIES, ATTEMPTS]) await db.query(statement);
  for (const statement of [ARRIVALS, ATTEMPTED, NOT_ATTEMPTED]) await db.query(statement);
}

// `bench_hash` gives a number from 0 on for a number and a salt; `bench_id` the text of an id (core/text/ids.ts) made
// at a time.
const HELPERS = `
create or replace function bench_hash(n bigint, salt int) returns bigint language sql immutable parallel safe
as $$ select hashint8extended(n, salt) & 1073741823 $$;
create or replace function bench_id(prefix text, ms bigint, n bigint) returns text language sql immutable parallel safe as $$
  select prefix || ${[9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((i) => `('{${[...'0123456789abcdefghjkmnpqrstvwxyz'].join()}}'::text[])[1 + ((ms >> ${5 * i}) & 31)]`).join(' || ')}
         || substr(md5(prefix || n::text), 1, 16)
$$`;

const DAY_EVENTS = `
create temp table day_event on commit drop as
select n, ms, bench_id('evt_', ms, n) as id, s.source, s.id as source_id, s.organization_id, bench_hash(n, 1) as r
from (select n, ($3::float8 + n * $4::float8)::bigint as ms, ($5::int[])[1 + bench_hash(n, 2) % cardinality($5::int[])] as source
      from generate_series($1::bigint, $2::bigint) as n) e
join bench_source s using (source)`;

// What becomes of each delivery: about 96 of 100 are delivered, some at the second attempt; of the last ten minutes
// some are open.
const DAY_DELIVERIES = `
create temp table day_delivery on commit drop as
select d.*, bench_id('dlv_', ms, key) as id,
       case status when 'delivered' then 1 + (r2 % 100 < 4)::int when 'failed' then 6 when 'failed_over' then 3
                   when 'retrying' then 2 when 'cancelled' then 1 else 0 end as attempts,
       greatest(1, (-ln((1 + r2 % 1000) / 1001.0) * mean)::int) as latency,
       status not in ('skipped', 'failed_over') as counted, null::text as replay_of, null::text as failover_of
from (
  select k.*, case
      when destination = 'disabled' then 'skipped'
      when destination = 'unhealthy' and r < 3000 then 'failed'
      when $1 - ms < 600000 and r < 200 then 'pending'
      when $1 - ms < 600000 and r < 400 then 'retrying'
      when r < 30 then 'schema_failed'
      when r < 40 then 'cancelled'
      when r < 80 and failover_id is not null then 'failed_over'
      when r < 200 then 'failed'
      when $1 - ms < 7200000 and r < 210 then 'circuit_open'
      else 'delivered' end as status
  from (
    select e.id as event_id, e.ms + 2 as ms, e.source_id, e.organization_id, w."routeId" as route_id, w."destinationId" as destination_id,
           w."failoverId" as failover_id, w.destination, w.latency as mean, e.n * 8 + w.number as key,
           bench_hash(e.n * 8 + w.number, 3) % 10000 as r, bench_hash(e.n * 8 + w.number, 4) as r2
    from day_event e
    join (select *, row_number() over (partition by source order by "routeId", "destinationId") as number from bench_way) w
      on w.source = e.source and bench_hash(e.n * 8 + w.number, 5) % 100 < w.takes
  ) k
) d`;

// The delivery that is replayed stops counting, and the new one counts instead.
const REPLAYS = `
with replayed as (
  update day_delivery set counted = false where status = 'failed' and r2 % 7 = 0 and ms + 3600000 < $1 returning *
)
insert into day_delivery
select event_id, ms + 3600000, source_id, organization_id, route_id, destination_id, failover_id, destination, mean, key, r, r2, 'delivered',
       bench_id('dlv_', ms + 3600000, key), 1, latency, true, id, null
from replayed`;

const FAILOVERS = `
insert into day_delivery
select event_id, ms + 4000, source_id, organization_id, route_id, failover_id, null, destination, mean, key, r, r2, 'delivered',
       bench_id('dlv_', ms + 4000, key), 1, latency, true, null, id
from day_delivery where status = 'failed_over' and ms + 5000 < $1`;

const EVENTS = `
insert into events (id, organization_id, source_id, status, routed, method, query, client_address, headers, payload_size, payload_hash,
                    deliveries_count, deliveries_succeeded, deliveries_failed, received_at, validated_at, queued_at)
select e.id, e.organization_id, e.source_id, event_status(coalesce(total, 0), coalesce(succeeded, 0), coalesce(failed, 0)),
       d.event_id is not null, 'POST', '', '127.0.0.1',
       jsonb_build_object('host', 'hooks.example.com', 'user-agent', 'Shop-Hookshot/044aadd', 'content-type', 'application/json',
         'accept', '*/*', 'x-shop-event', 'order.paid', 'x-shop-delivery', md5(e.id), 'x-shop-signature-256', 'sha256=' || md5(e.id) || md5(e.id || 's'),
         'x-forwarded-for', '203.0.113.' || e.r % 250),
       480, 'sha256:' || md5(e.id) || md5(e.id || 'p'), coalesce(total, 0), coalesce(succeeded, 0), coalesce(failed, 0),
       at, at + interval '1 ms', at + interval '4 ms'
from (select *, to_timestamp(ms / 1000.0) as at from day_event) e
left join (select event_id, (count(*) filter (where counted))::int as total,
                  (count(*) filter (where counted and status = 'delivered'))::int as succeeded,
                  (count(*) filter (where counted and status in ('failed', 'schema_failed', 'cancelled')))::int as failed
           from day_delivery group by 1) d on d.event_id = e.id
order by e.id`;

const PAYLOADS = `
insert into event_payloads (event_id, is_text, body)
select id, true, convert_to(json_build_object('type', (array['order.paid', 'order.shipped', 'customer.created', 'invoice.failed'])[1 + r % 4],
    'id', 'ord_' || n, 'created', ms, 'customer', json_build_object('id', 'cus_' || r % 100000, 'email', 'customer' || r % 100000 || '@example.com',
    'name', 'Łukasz Größe ' || r % 1000), 'amount', r % 50000, 'currency', 'EUR',
    'lines', (select json_agg(json_build_object('sku', 'sku-' || (r + i) % 5000, 'quantity', 1 + i, 'price', (r + i) % 900)) from generate_series(1, 4) i),
    'note', md5(id) || md5(id || 'n'))::text, 'UTF8')
from day_event order by id`;

const DELIVERIES = `
insert into deliveries (id, organization_id, event_id, source_id, route_id, destination_id, priority, status, counted, attempt_count,
                        status_code, latency, error, next_attempt_at, delivered_at, finished_at, failover_of, replay_of)
select id, organization_id, event_id, source_id, route_id, destination_id, 0, status, counted, attempts,
       case when attempts = 0 then null when status = 'delivered' then 200 when status <> 'cancelled' then 503 end,
       case when attempts > 0 then latency end,
       case when status in ('failed', 'retrying', 'failed_over') then 'The destination answered 503'
            when status = 'cancelled' then 'Cancelled by a user' when status = 'skipped' then 'The destination is disabled'
            when status = 'schema_failed' then 'The payload does not match the schema Order (version 3): /amount must be an integer' end,
       case when status = 'retrying' then ended + interval '30 s' end, case when status = 'delivered' then ended end,
       case when status not in ('pending', 'retrying', 'circuit_open') then ended end, failover_of, replay_of
from (select *, to_timestamp((ms + latency + case when attempts > 1 then 1000 * (2 ^ (attempts - 1) - 1) else 0 end) / 1000.0) as ended
      from day_delivery) d
order by id`;

const ATTEMPT = `
from (select d.*, a.n, to_timestamp((ms + 1000 * (2 ^ (a.n - 1) - 1)) / 1000.0) as started,
             case when a.n < attempts then 'retrying' else status end as result
      from day_delivery d cross join lateral generate_series(1, attempts) as a(n)) a`;

const ATTEMPTS = `
insert into attempts (delivery_id, attempt_number, status, status_code, error, latency, started_at, completed_at, request_headers,
                      response_headers, response_body)
select id, n, case when result = 'delivered' then 'success' else 'failed' end, case when result = 'delivered' then 200 else 503 end,
       case when result <> 'delivered' then 'The destination answered 503' end, latency, started, started + latency * interval '1 ms',
       jsonb_build_object('Content-Type', 'application/json', 'User-Agent', 'Hookyard/0.1.0', 'X-Hookyard-Event-Id', event_id,
                          'X-Hookyard-Delivery-Id', id, 'X-Hookyard-Attempt', n::text),
       '{"server": "nginx", "content-type": "text/plain", "date": "Sat, 21 Nov 2026 10:00:00 GMT"}', 'ok'
${ATTEMPT} order by id, n`;

const BUCKET = bucketOf('at');

// The entries that the statements of db/hot-path/ and db/delivery/delivery-commands.ts write for the same, a day at
// once.
const ARRIVALS = `
insert into ledger_entries (organization_id, bucket, source_id, route_id, events, bytes, routed, filtered, deliveries, last_event_at)
select organization_id, ${BUCKET}, source_id, route_id, sum(events), sum(bytes), count(*) filter (where taken), count(*) filter (where not taken),
       sum(deliveries), max(at)
from (
  select organization_id, source_id, '' as route_id, to_timestamp(ms / 1000.0) as at, null::boolean as taken, 1 as events, 480 as bytes, 0 as deliveries from day_event
  union all
  select distinct e.organization_id, e.source_id, w."routeId", to_timestamp(e.ms / 1000.0), d.event_id is not null, 0, 0, 0
  from day_event e join bench_way w on w.source = e.source
  left join (select distinct event_id, route_id from day_delivery where failover_of is null and replay_of is null) d
    on d.event_id = e.id and d.route_id = w."routeId"
  union all
  select organization_id, source_id, '', to_timestamp(ms / 1000.0), null, 0, 0, 1 from day_delivery where failover_of is null
) s group by 1, 2, 3, 4`;

// With the classes of core/metrics/latency-classes.ts.
const ATTEMPTED = `
insert into ledger_entries (organization_id, bucket, source_id, route_id, destination_id, code, attempts, latency_sum, latencies,
                            delivered, failed, failed_over, last_success_at, last_failure_at)
select organization_id, ${BUCKET}, source_id, route_id, destination_id, case when result = 'delivered' then 200 else 503 end, count(*),
       sum(latency), array_agg(array[case when latency < 128 then latency else ceil(ceil(latency / width) * width)::int end, 1]),
       count(*) filter (where result = 'delivered'), count(*) filter (where result = 'failed'),
       count(*) filter (where result = 'failed_over'), max(at) filter (where result = 'delivered'), max(at) filter (where result <> 'delivered')
from (select *, started + latency * interval '1 ms' as at, case when latency >= 128 then 2.0 ^ floor(log(2.0, latency)) / 64 end as width ${ATTEMPT}) a
group by 1, 2, 3, 4, 5, 6`;

const NOT_ATTEMPTED = `
insert into ledger_entries (organization_id, bucket, source_id, route_id, destination_id, not_sent, cancelled)
select organization_id, ${BUCKET}, source_id, route_id, destination_id, count(*) filter (where status = 'schema_failed'),
       count(*) filter (where status = 'cancelled')
from (select *, to_timestamp(ms / 1000.0) as at from day_delivery where attempts = 0 and status in ('schema_failed', 'cancelled')) d
group by 1, 2, 3, 4, 5`;

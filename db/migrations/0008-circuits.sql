-- The circuit breaker of each route that has had a failure. A route without a row is closed and has none to count.
-- Changed by compare-and-set on `version` with the state machine of core/circuit.ts. No foreign key: recording a result
-- must not fail when its route is deleted at the same moment.
create table circuits (
  route_id text collate "C" primary key,
  organization_id text collate "C" not null,
  state text not null default 'closed' check (state in ('closed', 'open', 'half_open')),
  failure_count integer not null default 0,
  probe_success_count integer not null default 0,
  opened_at timestamptz(3),
  probe_delivery_id text collate "C",
  probe_until timestamptz(3),
  version integer not null,
  -- When the circuit's workflow is to be woken (or started) by a worker; null while it has nothing to do. Set with every
  -- change it must hear of, so that neither a lost signal nor a lost workflow leaves a circuit open for ever.
  wake_at timestamptz(3)
) with (fillfactor = 50);
create index circuits_to_wake on circuits (wake_at) where wake_at is not null;
create index circuits_by_probe on circuits (probe_delivery_id) where probe_delivery_id is not null;

-- Deliveries that wait for their route's circuit to close. They leave the outbox: a long outage must not stand in the way
-- of what can be claimed. The primary key is the order of their release, which is the order of receipt.
create table held_deliveries (
  route_id text collate "C" not null,
  delivery_id text collate "C" not null,
  organization_id text collate "C" not null,
  event_id text collate "C" not null,
  source_id text collate "C" not null,
  destination_id text collate "C" not null,
  priority integer not null,
  shard smallint not null,
  -- Whether its workflow waits for the signal `release`; the others have none yet and go back to the outbox.
  has_workflow boolean not null,
  -- Raised each time it is held again, so that a release that is under way does not undo a later hold.
  version integer not null default 1,
  primary key (route_id, delivery_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- A changed rule applies to the current state at once; with its route, a circuit is gone, and what it held is released.
create function route_circuit_changed() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    delete from circuits c where c.route_id = old.id and not exists (select from held_deliveries h where h.route_id = old.id);
    update circuits
    set state = 'closed', failure_count = 0, probe_success_count = 0, opened_at = null, probe_delivery_id = null, probe_until = null,
        version = version + 1, wake_at = now()
    where route_id = old.id;
  else
    update circuits set version = version + 1, wake_at = now() where route_id = new.id and state <> 'closed';
  end if;
  if found then
    perform pg_notify('hookyard_outbox', 'circuits');
  end if;
  return null;
end $$;
create trigger routes_circuit_changed
  after delete or update of circuit_cooldown_seconds, circuit_probe_success_threshold, failover_destination_ids on routes
  for each row execute function route_circuit_changed();

-- As before (0006), but that a destination has not recovered while the route's circuit is not closed: a single probe that
-- succeeds is no recovery.
-- Notes deliveries that ended, of routes that notify. Statements call it only when there is such a delivery, so that all
-- others pay for nothing but the look at their route. Takes an array of objects with the members of `o` below; returns how
-- many notifications were written. Rows are upserted in key order; should two callers deadlock all the same, one of their
-- statements is rolled back whole and repeated.
create or replace function note_outcomes(outcomes jsonb) returns integer language plpgsql as $$
declare
  recovered jsonb;
  written integer;
begin
  -- What a group of outcomes leaves behind is decided by the last one: a destination that failed again has not recovered.
  with o as (
    select * from jsonb_to_recordset(outcomes) as o(route_id text, primary_id text, status text, at timestamptz, on_recovery boolean)
    where on_recovery
  ), last as (
    select route_id, primary_id, count(*) filter (where status = 'failed') as failures,
           min(at) filter (where status = 'failed') as since, max(at) filter (where status = 'failed') as failed_at,
           max(at) filter (where status = 'delivered') as delivered_at
    from o group by 1, 2
  ), marked as (
    insert into failing_destinations as f (route_id, destination_id, failures, since)
    select route_id, primary_id, failures, since from last
    where failures > 0 and (delivered_at is null or delivered_at < failed_at) order by 1, 2
    on conflict (route_id, destination_id) do update set failures = f.failures + excluded.failures
  ), cleared as (
    delete from failing_destinations f using last l
    where f.route_id = l.route_id and f.destination_id = l.primary_id
      and l.delivered_at is not null and (l.failed_at is null or l.failed_at <= l.delivered_at)
      and not exists (select from circuits c where c.route_id = f.route_id and c.state <> 'closed')
    returning f.route_id, f.destination_id as primary_id, f.failures, f.since
  )
  select jsonb_object_agg(l.route_id || ' ' || l.primary_id, jsonb_build_object(
           'failures', l.failures + coalesce(c.failures, 0), 'failing_since', coalesce(c.since, l.since)))
  into recovered
  from last l left join cleared c using (route_id, primary_id)
  where c.route_id is not null or (l.failures > 0 and l.failed_at <= l.delivered_at);

  with o as (
    select r.*, outcome.value - '{on_failure,on_success,on_recovery}'::text[] as facts
    from jsonb_array_elements(outcomes) as outcome(value)
    cross join jsonb_to_record(outcome.value) as r(organization_id text, route_id text, primary_id text, status text, at timestamptz,
      on_failure boolean, on_success boolean)
  ), told as (
    select organization_id, route_id, 'failure' as kind, at, facts from o where status = 'failed' and on_failure
    union all
    select organization_id, route_id, 'success', at, facts from o where status = 'delivered' and on_success
    union all
    select organization_id, route_id, 'recovery', at, facts || (recovered -> (route_id || ' ' || primary_id))
    from (select distinct on (route_id, primary_id) * from o where status = 'delivered' order by route_id, primary_id, at desc) o
    where recovered -> (route_id || ' ' || primary_id) is not null
  )
  insert into route_notifications as n (route_id, kind, organization_id, count, since, facts, due_at)
  select route_id, kind, min(organization_id), count(*), min(at), (array_agg(facts order by at desc))[1], now() + notification_collects(kind)
  from told group by route_id, kind order by route_id, kind
  on conflict (route_id, kind) do update
    set count = n.count + excluded.count, facts = excluded.facts,
        since = case when n.count = 0 then excluded.since else n.since end,
        due_at = coalesce(n.due_at, greatest(excluded.due_at, n.sent_at + notification_spacing(n.kind)));
  get diagnostics written = row_count;
  return written;
end $$;

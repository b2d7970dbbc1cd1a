-- Circuits of routes that have had a failure or a pause; a route without a row is closed. Changed by compare-and-set on
-- `version` (core/delivery/circuit.ts). No foreign key: recording a result must not fail when its route is deleted at
-- the same moment.
create table circuits (
  route_id text collate "C" primary key,  -- or the id of a destination that is or was paused: its row is always closed
  organization_id text collate "C" not null,
  state text not null default 'closed' check (state in ('closed', 'open', 'half_open')),
  failure_count integer not null default 0, probe_success_count integer not null default 0, opened_at timestamptz(3),
  probe_delivery_id text collate "C", probe_until timestamptz(3),
  -- by an operator, of the route or destination (db/circuits/pauses.ts); the circuit's state stays
  paused_since timestamptz(3),
  paused_until timestamptz(3),  -- when it ends by itself; null: it does not
  pause_reason text,
  -- the rate at which the release after a resume goes on; null: the usual one (activities/circuit.ts)
  release_per_second integer,
  version integer not null,
  -- When a worker wakes or starts the circuit's workflow; null: nothing to do. Set with every change that concerns it,
  -- so that neither a lost signal nor a lost workflow leaves a circuit open for ever.
  wake_at timestamptz(3)
) with (fillfactor = 50);
create index circuits_to_wake on circuits (wake_at) where wake_at is not null;
create index circuits_by_probe on circuits (probe_delivery_id) where probe_delivery_id is not null;

-- Deliveries that wait for a circuit to close or a pause to end (under the id of what is paused). They leave the
-- outbox, so that a long outage does not slow claims down. The primary key is the order of their release, which is the
-- order of receipt.
create table held_deliveries (
  route_id text collate "C" not null, delivery_id text collate "C" not null, organization_id text collate "C" not null,
  event_id text collate "C" not null, source_id text collate "C" not null, destination_id text collate "C" not null,
  priority integer not null, shard smallint not null,
  -- which waits for the signal `release`; the others have none yet and go back to the outbox
  has_workflow boolean not null,
  outside_circuit boolean not null default false,  -- a failover, or a delivery to a warehouse: only a pause holds it
  version integer not null default 1,  -- raised at each hold, so that a release under way does not undo a later one
  primary key (route_id, delivery_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0,
        vacuum_truncate = off);
create index held_outside_circuit on held_deliveries (route_id, delivery_id) where outside_circuit;

-- A changed rule applies at once. A circuit and a pause end with their route or destination, and what they held is
-- released.
create function route_circuit_changed() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    delete from circuits c where c.route_id = old.id
      and not exists (select from held_deliveries h where h.route_id = old.id);
    update circuits
    set state = 'closed', failure_count = 0, probe_success_count = 0, opened_at = null, probe_delivery_id = null,
        probe_until = null, paused_since = null, paused_until = null, pause_reason = null, version = version + 1,
        wake_at = now()
    where route_id = old.id;
  else
    update circuits set version = version + 1, wake_at = now() where route_id = new.id and state <> 'closed';
  end if;
  if found then
    perform pg_notify('hookyard_outbox', 'due');
  end if;
  return null;
end $$;
create trigger routes_circuit_changed
  after delete or update of circuit_cooldown_seconds, circuit_probe_success_threshold,
  failover_destination_ids on routes
  for each row execute function route_circuit_changed();
create trigger destinations_pause_ended after delete on destinations
  for each row execute function route_circuit_changed();

-- A pause: an operator has stopped the deliveries of a route, or of a destination, until somebody resumes them (db/circuits/pauses.ts).
-- It is beside the state of the circuit, which it does not change. A destination that is or was paused has a row too, with its
-- own id in `route_id`; it has no circuit, so that row is always closed. What a pause holds is in `held_deliveries` under the
-- id of the row. A release before this one does not know pauses: they hold once every worker has this one.
alter table circuits
  add column paused_since timestamptz(3),
  -- When it ends by itself; null: it does not.
  add column paused_until timestamptz(3),
  add column pause_reason text,
  -- The rate at which the release after a resume goes on; null: HOOKYARD_CIRCUIT_RELEASE_PER_SECOND.
  add column release_per_second integer;

-- Whether the state of its route's circuit does not count for it: a failover, or a delivery to a warehouse. Only a pause holds these.
alter table held_deliveries add column outside_circuit boolean not null default false;
create index held_outside_circuit on held_deliveries (route_id, delivery_id) where outside_circuit;

-- As before (0008), but that a pause ends with its route. Destinations, whose rows are pauses only, use the part of deletions.
create or replace function route_circuit_changed() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    delete from circuits c where c.route_id = old.id and not exists (select from held_deliveries h where h.route_id = old.id);
    update circuits
    set state = 'closed', failure_count = 0, probe_success_count = 0, opened_at = null, probe_delivery_id = null, probe_until = null,
        paused_since = null, paused_until = null, pause_reason = null, version = version + 1, wake_at = now()
    where route_id = old.id;
  else
    update circuits set version = version + 1, wake_at = now() where route_id = new.id and state <> 'closed';
  end if;
  if found then
    perform pg_notify('hookyard_outbox', 'circuits');
  end if;
  return null;
end $$;
create trigger destinations_pause_ended
  after delete on destinations
  for each row execute function route_circuit_changed();

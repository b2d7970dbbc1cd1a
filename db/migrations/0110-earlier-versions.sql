-- A delivery keeps the version of its route, and of the transform of that route, by which it was made: its attempts apply these also
-- after a change or a deletion. No other table holds a version that is no longer the current one.
alter table deliveries
  add column route_version integer,
  -- Null: the route had no transform.
  add column transform_version integer;

-- Earlier versions of routes and transforms, also of deleted ones. They go when no payload is left that was received before they were
-- replaced (db/retention/earlier-versions.ts).
create table earlier_versions (
  organization_id text collate "C" not null,
  record_id text collate "C" not null,
  version integer not null,
  -- What deliveries need of it, as of the current one.
  config jsonb not null,
  replaced_at timestamptz(3) not null default now(),
  primary key (record_id, version)
);
create index earlier_versions_by_time on earlier_versions (replaced_at);

-- What deliveries need of a route, and of a transform (db/hot-path/attempt-config.ts).
create function delivery_config(r routes) returns jsonb language sql immutable as $$
  select jsonb_build_object(
    'id', r.id, 'version', r.version, 'transformId', r.transform_id, 'schemaId', r.schema_id, 'expectedResponse', r.expected_response,
    'failoverDestinationIds', to_jsonb(r.failover_destination_ids), 'failoverAfterAttempts', r.failover_after_attempts,
    'circuitFailureThreshold', r.circuit_failure_threshold, 'allowOwnAddress', r.allow_own_address)
$$;
create function delivery_config(t transforms) returns jsonb language sql immutable as $$
  select jsonb_build_object(
    'id', t.id, 'version', t.version, 'name', t.name, 'type', t.type, 'code', t.code, 'outputContentType', t.output_content_type)
$$;

-- By triggers, so that no way to change or delete a record can forget it.
create function keep_earlier_version() returns trigger language plpgsql as $$
begin
  insert into earlier_versions (organization_id, record_id, version, config)
  values (old.organization_id, old.id, old.version, delivery_config(old)) on conflict do nothing;
  return null;
end $$;
create trigger routes_keep_changed after update on routes
  for each row when (new.version <> old.version) execute function keep_earlier_version();
create trigger routes_keep_deleted after delete on routes for each row execute function keep_earlier_version();
create trigger transforms_keep_changed after update on transforms
  for each row when (new.version <> old.version) execute function keep_earlier_version();
create trigger transforms_keep_deleted after delete on transforms for each row execute function keep_earlier_version();

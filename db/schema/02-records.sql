-- Sources, destinations, routes, and the records that routes refer to. Small tables, read through caches that are
-- checked against organizations.config_version. Enumerations that the API validates by a registry have no check here.

create table sources (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  name text not null, slug text not null, description text,
  verification jsonb not null default '{"type":"none"}',  -- type and non-secret members
  verification_secret text,  -- secrets as JSON, encrypted (db/encryption)
  previous_verification_secret text, previous_secret_until timestamptz(3),
  provider text,  -- a name of providers/; its verification is {"type": "provider"}
  -- Whether the address has an unguessable part. The token and the one before it are encrypted, because the API shows
  -- the address.
  ingest_token text not null default 'none' check (ingest_token in ('none', 'optional', 'required')),
  ingest_token_value text, previous_token_value text, previous_token_until timestamptz(3),
  concealed boolean not null default false,  -- whether unverified senders are answered as if there were no such source
  allow_paths boolean not null default false,  -- whether it takes webhooks at paths below its address
  answer jsonb,  -- to an accepted webhook: status, body, contentType; null: the default
  -- the answer to a check of the address; the token that the check must have, encrypted
  handshake jsonb, handshake_token text,
  -- The last check of the address by the provider (db/organizations/handshakes.ts). shown: what the owner needs next
  -- (an address to visit, a token to enter at the provider), encrypted.
  last_handshake_kind text, last_handshake_at timestamptz(3), last_handshake_shown text,
  idempotency_key jsonb, enabled boolean not null default true, version integer not null default 1,
  created_at timestamptz(3) not null default now(), updated_at timestamptz(3) not null default now(),
  constraint sources_slug_unique unique (organization_id, slug)
);

-- Deleted sources whose events and deliveries are still being removed in the background
-- (db/operations/source-purges.ts).
create table source_purges (
  source_id text collate "C" primary key, organization_id text collate "C" not null,
  requested_at timestamptz(3) not null default now(),
  events_removed bigint not null default 0,  -- each with its payload, deliveries and attempts
  -- when no event was left; a webhook that was being stored meanwhile is looked for once more
  emptied_at timestamptz(3),
  -- last removal step, null: none; sources take turns, so that a large or failing one does not delay the others
  tried_at timestamptz
);

create table destinations (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  name text not null, slug text not null, description text, type text not null, url text not null,
  method text not null check (method in ('POST', 'PUT', 'PATCH')), headers jsonb not null default '{}',
  retry_policy jsonb not null,
  auth_type text not null, auth_config text, signing_secret text,  -- encrypted: auth_config (JSON), signing_secret
  -- the secret before, encrypted; valid until then
  previous_signing_secret text, previous_signing_secret_until timestamptz(3),
  timeout_ms integer not null check (timeout_ms between 1 and 60000),
  rate_limit_per_minute integer check (rate_limit_per_minute > 0),
  -- Most attempts under way at a time, all workers together; null: as many as it copes with
  -- (core/delivery/destination-limit.ts).
  max_concurrency integer check (max_concurrency between 1 and 1000),
  -- the received headers that it gets: "all", "none", a list of names; null: all but those that steer servers
  forward_headers jsonb,
  -- path: the part below the source
  forward_query boolean not null default false, forward_path boolean not null default false,
  -- the whole config of a warehouse as encrypted JSON; null on http, and on a warehouse that was imported without it
  config text,
  field_mapping jsonb,  -- the rules of the mapping; null on http; null on a warehouse: rows are whole events
  enabled boolean not null default true, version integer not null default 1,
  created_at timestamptz(3) not null default now(), updated_at timestamptz(3) not null default now(),
  constraint destinations_slug_unique unique (organization_id, slug),
  constraint destinations_warehouse_members check (type <> 'http' or (config is null and field_mapping is null)),
  -- so that ids need no look-up
  constraint destinations_id_tells_type check ((type = 'http') = (id not like 'dst\_wh\_%'))
);
-- exports in parts, oldest first; lists backwards
create index destinations_by_age on destinations (organization_id, created_at, id);

create table filters (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  name text not null, slug text not null, description text, conditions jsonb not null,
  logic text not null default 'AND' check (logic in ('AND', 'OR')), version integer not null default 1,
  created_at timestamptz(3) not null default now(), updated_at timestamptz(3) not null default now(),
  constraint filters_slug_unique unique (organization_id, slug)
);

create table schemas (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  name text not null, slug text not null, description text, schema jsonb not null, version integer not null default 1,
  created_at timestamptz(3) not null default now(), updated_at timestamptz(3) not null default now(),
  constraint schemas_slug_unique unique (organization_id, slug)
);

create table transforms (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  name text not null, slug text not null, description text, type text not null, code text not null,
  output_content_type text, version integer not null default 1, created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint transforms_slug_unique unique (organization_id, slug)
);

create table routes (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  name text not null, description text, source_id text collate "C" not null references sources (id) on delete cascade,
  destination_ids text[] collate "C" not null, transform_id text collate "C", filter_id text collate "C",
  schema_id text collate "C", filter_conditions jsonb, filter_logic text not null default 'AND' check (filter_logic
  in ('AND', 'OR')), expected_response jsonb, failover_destination_ids text[] collate "C" not null default '{}',
  failover_after_attempts integer not null default 3, circuit_cooldown_seconds integer not null default 300,
  circuit_failure_threshold integer not null default 5, circuit_probe_success_threshold integer not null default 2,
  notify_on_failure boolean not null default false, notify_on_success boolean not null default false,
  notify_on_recovery boolean not null default false, notify_emails text,
  -- who makes the first attempt of its deliveries, workflow or relay; null: as the service is set (HOOKYARD_LANE)
  lane text,
  ordering jsonb,  -- key, missingKey, onExhausted, holdSeconds; null: deliveries wait for no others
  -- deliveries to addresses under HOOKYARD_PUBLIC_URL come back as webhooks
  allow_own_address boolean not null default false,
  enabled boolean not null default true, priority integer not null default 0, version integer not null default 1,
  created_at timestamptz(3) not null default now(), updated_at timestamptz(3) not null default now(),
  -- A route without the filter, schema or transform that it names would take and send everything. The API refuses such
  -- a deletion; this stops all others. Checked at the end of a statement, because deleting an organization deletes
  -- both.
  constraint routes_filter_exists foreign key (filter_id) references filters (id),
  constraint routes_schema_exists foreign key (schema_id) references schemas (id),
  constraint routes_transform_exists foreign key (transform_id) references transforms (id)
);
create index routes_by_organization on routes (organization_id, id);
create index routes_by_source on routes (source_id);
-- list filter; removal of a deleted destination
create index routes_by_destination on routes using gin (destination_ids);
create index routes_by_filter on routes (filter_id) where filter_id is not null;  -- for the foreign key
create index routes_by_schema on routes (schema_id) where schema_id is not null;  -- for the foreign key
create index routes_by_transform on routes (transform_id) where transform_id is not null;  -- for the foreign key

create trigger sources_config_version after insert or delete on sources
  for each row execute function raise_config_version();
-- A handshake changes nothing of the configuration, and there may be many.
create trigger sources_config_version_changed after update on sources for each row
  when (new.last_handshake_at is not distinct from old.last_handshake_at) execute function raise_config_version();
create trigger destinations_config_version after insert or update or delete on destinations
  for each row execute function raise_config_version();
create trigger routes_config_version after insert or update or delete on routes
  for each row execute function raise_config_version();
create trigger filters_config_version after insert or update or delete on filters
  for each row execute function raise_config_version();
create trigger schemas_config_version after insert or update or delete on schemas
  for each row execute function raise_config_version();
create trigger transforms_config_version after insert or update or delete on transforms
  for each row execute function raise_config_version();

-- Replaced and deleted versions of routes and transforms, and where requests to a destination went, kept while a payload
-- is left that was received before (db/operations/expired.ts).
create table earlier_versions (
  organization_id text collate "C" not null, record_id text collate "C" not null, version integer not null,
  config jsonb not null, replaced_at timestamptz(3) not null default now(),  -- config: see delivery_config
  primary key (record_id, version)
);
create index earlier_versions_by_time on earlier_versions (replaced_at);

-- What deliveries need of a route or transform, current (db/hot-path/attempt-config.ts) or earlier.
create function delivery_config(r routes) returns jsonb language sql immutable as $$
  select jsonb_build_object(
    'id', r.id, 'version', r.version, 'transformId', r.transform_id, 'schemaId', r.schema_id, 'expectedResponse',
    r.expected_response, 'failoverDestinationIds', to_jsonb(r.failover_destination_ids), 'failoverAfterAttempts',
    r.failover_after_attempts, 'circuitFailureThreshold', r.circuit_failure_threshold, 'allowOwnAddress',
    r.allow_own_address, 'ordering', r.ordering)
$$;
create function delivery_config(t transforms) returns jsonb language sql immutable as $$
  select jsonb_build_object(
    'id', t.id, 'version', t.version, 'name', t.name, 'type', t.type, 'code', t.code, 'outputContentType',
    t.output_content_type)
$$;
-- Where the requests of earlier attempts went.
create function delivery_config(d destinations) returns jsonb language sql immutable as $$
  select jsonb_build_object(
    'method', d.method, 'url', d.url, 'forwardPath', d.forward_path, 'forwardQuery', d.forward_query)
$$;

-- A trigger, so that no way to change or delete a record can leave it out.
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
create trigger destinations_keep_changed after update on destinations
  for each row when (new.version <> old.version and old.type = 'http') execute function keep_earlier_version();
create trigger transforms_keep_deleted after delete on transforms for each row execute function keep_earlier_version();

-- Configuration records: small tables, read through caches that are checked against organizations.config_version.
-- Every id is text in collation "C": ids sort by their creation time, and range partitions compare bytes.

create table organizations (
  id text collate "C" primary key,
  slug text not null unique,
  name text not null,
  plan text not null check (plan in ('free', 'pro', 'business')),
  -- Raised by triggers on every change of a source, destination or route. Ingest compares it inside the statement
  -- that stores events, so a cached configuration is never used after a change has been committed.
  config_version bigint not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);

create table api_keys (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  name text not null,
  token_hash bytea not null unique,          -- SHA-256 of the whole token; the token itself is never stored
  token_hint text not null,                  -- its last four characters, so that people can tell keys apart
  scopes text[] not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);
create index api_keys_by_organization on api_keys (organization_id, id);

create table sources (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  name text not null,
  slug text not null,
  description text,
  verification jsonb not null default '{"type":"none"}',  -- type and non-secret members
  verification_secret text,                  -- encrypted (db/encryption.ts)
  idempotency_key jsonb,
  enabled boolean not null default true,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint sources_slug_unique unique (organization_id, slug)
);

create table destinations (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  name text not null,
  slug text not null,
  description text,
  type text not null check (type in ('http')),
  url text not null,
  method text not null check (method in ('POST', 'PUT', 'PATCH')),
  headers jsonb not null default '{}',
  auth_type text not null,
  auth_config text,                          -- encrypted JSON
  signing_secret text,                       -- encrypted
  timeout_ms integer not null check (timeout_ms between 1 and 60000),
  rate_limit_per_minute integer check (rate_limit_per_minute > 0),
  retry_policy jsonb not null,
  enabled boolean not null default true,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint destinations_slug_unique unique (organization_id, slug)
);

create table routes (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  name text not null,
  description text,
  source_id text collate "C" not null references sources (id) on delete cascade,
  destination_ids text[] collate "C" not null,
  transform_id text collate "C",
  filter_id text collate "C",
  schema_id text collate "C",
  priority integer not null default 0,
  filter_conditions jsonb,
  filter_logic text not null default 'AND' check (filter_logic in ('AND', 'OR')),
  failover_destination_ids text[] collate "C" not null default '{}',
  failover_after_attempts integer not null default 3,
  circuit_cooldown_seconds integer not null default 300,
  circuit_failure_threshold integer not null default 5,
  circuit_probe_success_threshold integer not null default 2,
  notify_on_failure boolean not null default false,
  notify_on_success boolean not null default false,
  notify_on_recovery boolean not null default false,
  notify_emails text,
  expected_response jsonb,
  enabled boolean not null default true,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index routes_by_organization on routes (organization_id, id);
create index routes_by_source on routes (source_id);
-- Which routes name a destination: list filter, and removal of a deleted destination from all routes.
create index routes_by_destination on routes using gin (destination_ids);

-- Ingest idempotency (decisions: `idempotencyKey: {header|jsonPath, windowSeconds}`). The primary key makes a repeat
-- inside the window impossible however many API processes there are.
create table idempotency_keys (
  source_id text collate "C" not null references sources (id) on delete cascade,
  key_hash bytea not null,
  event_id text collate "C" not null,
  expires_at timestamptz(3) not null,
  primary key (source_id, key_hash)
);
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);

-- Sources that were deleted and whose events and deliveries are still being removed in the background.
create table source_purges (
  source_id text collate "C" primary key,
  organization_id text collate "C" not null,
  requested_at timestamptz(3) not null default now()
);

create function raise_config_version() returns trigger language plpgsql as $$
begin
  update organizations set config_version = config_version + 1
  where id = coalesce(new.organization_id, old.organization_id);
  return null;
end $$;
create trigger sources_config_version after insert or update or delete on sources
  for each row execute function raise_config_version();
create trigger destinations_config_version after insert or update or delete on destinations
  for each row execute function raise_config_version();
create trigger routes_config_version after insert or update or delete on routes
  for each row execute function raise_config_version();

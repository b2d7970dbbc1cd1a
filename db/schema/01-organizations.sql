-- Organizations, their API keys, what they use, and answers kept for repeated management requests.
-- Every id is text in collation "C": ids sort by their creation time, and range partitions compare bytes.

create table organizations (
  id text collate "C" primary key,
  slug text not null unique, name text not null, plan text not null check (plan in ('free', 'pro', 'business')),
  -- What an operator has set apart from the plan's defaults (core/limits.ts): {"<limit>": <number>, or null for no limit}.
  limits jsonb not null default '{}' check (jsonb_typeof(limits) = 'object'),
  -- Raised by triggers on every change of a source, destination, route or what routes refer to. Ingest compares it inside the
  -- statement that stores events, so a cached configuration is never used after a change has been committed.
  config_version bigint not null default 1,
  -- Set while the organization is suspended: ingest refuses its webhooks, and its deliveries wait.
  suspended_at timestamptz(3),
  -- When the last suspension ended: how long a file may be retried is counted from here.
  resumed_at timestamptz(3),
  -- When its deletion was requested. From then on it is suspended too, and its rows are removed in the background
  -- (db/organizations/deletion.ts).
  deleted_at timestamptz(3),
  -- When housekeeping last began with the deletion: the next round begins with others, so that one that fails, or that takes
  -- days, does not hold them up.
  deletion_tried_at timestamptz,
  -- Events removed so far, each with its payload, deliveries and attempts.
  events_removed bigint not null default 0,
  -- When nothing of it was left. What was being written meanwhile is looked for once more.
  emptied_at timestamptz(3),
  -- Replays by filter of an organization share a rate. Until when it is used up.
  replays_planned_until timestamptz,
  created_at timestamptz(3) not null default now(), updated_at timestamptz(3) not null default now()
);
-- Every worker reads the suspended ones each second.
create index organizations_suspended on organizations (id) where suspended_at is not null;

-- The records of an organization may be forgotten once its deletion was requested (forget_audit_of). So a request stays: otherwise
-- the role of the services could request it, have the records forgotten, and take it back.
create function refuse_undeletion() returns trigger language plpgsql as $$
begin
  raise exception 'the deletion of an organization cannot be taken back' using errcode = '42501';
end $$;
create trigger organizations_stay_deleted before update of deleted_at on organizations
  for each row when (old.deleted_at is not null and new.deleted_at is distinct from old.deleted_at)
  execute function refuse_undeletion();

-- Called by triggers of the configuration records. Not for an organization that is being deleted: nobody reads its version any
-- more, and one update of the same row for each of thousands of records in one transaction is slow.
create function raise_config_version() returns trigger language plpgsql as $$
begin
  update organizations set config_version = config_version + 1
  where id = coalesce(new.organization_id, old.organization_id) and deleted_at is null;
  return null;
end $$;

create table api_keys (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  name text not null,
  token_hash bytea not null unique,          -- SHA-256 of the whole token; the token itself is never stored
  token_hint text not null,                  -- its last four characters, so that people can tell keys apart
  scopes text[] not null,
  allowed_addresses text[],                  -- ranges that it may be used from, in CIDR notation; null: from everywhere
  expires_at timestamptz(3), revoked_at timestamptz(3),
  last_used_at timestamptz(3),               -- to the minute, so that an unused key can be revoked without fear; null: never
  created_at timestamptz(3) not null default now()
);
create index api_keys_by_organization on api_keys (organization_id, id);

-- One-time codes of the console's sign-in links (docs/security.md): a start makes one, and who sends it gets a key of the
-- organization. Only the SHA-256 is stored. The column is not called organization_id, so that the role of the tenants has no rights
-- on the table (db/tenants/policies.ts): a code is looked up before it is known whose it is.
create table console_codes (
  code_hash bytea primary key,
  owner_id text collate "C" not null references organizations (id) on delete cascade,
  expires_at timestamptz(3) not null
);
-- The rows of an organization that is deleted.
create index console_codes_by_owner on console_codes (owner_id);

-- Management requests that were sent with an Idempotency-Key, and the answers they got (docs/idempotency.md).
create table idempotent_requests (
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  -- SHA-256 of path and key: of one length, whatever was sent.
  id bytea not null,
  -- SHA-256 of the body. A repeat with another one is refused.
  body_hash bytea not null,
  -- Of the API key that asked: an answer may hold what a key with fewer scopes may not see.
  scopes text[] not null,
  -- Who runs it, until when the others leave it alone. Renewed while it runs; after a crash it passes and a repeat takes over.
  lease text not null,
  leased_until timestamptz not null,
  -- Status, headers and body, encrypted, because some answers show a secret for the only time. Null while it runs.
  answer text,
  expires_at timestamptz not null,
  primary key (organization_id, id)
);
-- Housekeeping finds what has expired.
create index idempotent_requests_by_expiry on idempotent_requests (expires_at);

-- What organizations use, by day (UTC): for limits, and for bills. A row is small and stays when its events are gone.
create table organization_usage (
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  day date not null,
  -- As API processes count what they store, added once a second. A process that is killed loses its last second, so these are never
  -- too high.
  accepted_events bigint not null default 0, accepted_bytes bigint not null default 0,
  -- Counted from the rows, each once, when they are settled (db/history/lists/settle.ts): exact, and 20 to 30 minutes behind. They
  -- lack what was deleted before it was settled. `attempts` are those of deliveries that have ended, by the day of the delivery.
  events bigint not null default 0,
  payload_bytes bigint not null default 0, deliveries bigint not null default 0, attempts bigint not null default 0,
  -- Payloads that were deleted on request. Those that expire go with their day.
  removed_bytes bigint not null default 0,
  primary key (organization_id, day)
) with (fillfactor = 50);

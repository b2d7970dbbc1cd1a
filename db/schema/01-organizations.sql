-- Organizations, their API keys, what they use, and answers kept for repeated management requests.
-- Every id is text in collation "C": ids sort by their creation time, and range partitions compare bytes.

create table organizations (
  id text collate "C" primary key,
  slug text not null unique, name text not null, plan text not null check (plan in ('free', 'pro', 'business')),
  -- What an operator has set apart from the plan's defaults (core/fairness/organization-limits.ts): {"<limit>":
  -- <number>, or null for no limit}.
  limits jsonb not null default '{}' check (jsonb_typeof(limits) = 'object'),
  -- Raised by triggers on every change of a source, destination, route or what routes refer to. Ingest compares it
  -- inside the statement that stores events, so a cached configuration is never used after a change has been committed.
  config_version bigint not null default 1,
  suspended_at timestamptz(3),  -- while set, ingest refuses webhooks, and deliveries wait
  resumed_at timestamptz(3),  -- end of the last suspension: how long a file may be retried is counted from here
  -- when its deletion was requested: it is suspended, and db/organizations/deletion.ts removes its rows
  deleted_at timestamptz(3),
  -- last removal round; organizations take turns, so that a slow or failing one delays no other
  deletion_tried_at timestamptz,
  events_removed bigint not null default 0,  -- each with its payload, deliveries and attempts
  emptied_at timestamptz(3),  -- when no row was left; rows that were being written meanwhile are looked for once more
  replays_planned_until timestamptz,  -- until when the rate that its replays by filter share is used up
  created_at timestamptz(3) not null default now(), updated_at timestamptz(3) not null default now()
);
-- every worker reads it (db/operations/due.ts)
create index organizations_suspended on organizations (id) where suspended_at is not null;

-- Makes the workers look at what is due when the transaction commits (db/operations/due.ts), where nothing else would
-- before their next look, which is ten seconds away while they are idle.
create function wake_workers() returns trigger language plpgsql as $$
begin
  perform pg_notify('hookyard_outbox', 'due');
  return null;
end $$;
create trigger organizations_wake after insert on organizations for each row execute function wake_workers();
create trigger organizations_wake_suspended after update on organizations for each row
  when (old.suspended_at is distinct from new.suspended_at) execute function wake_workers();

-- A requested deletion cannot be taken back: it permits forget_audit_of, so the role of the services could otherwise
-- request it, have the audit records deleted, and take it back.
create function refuse_undeletion() returns trigger language plpgsql as $$
begin
  raise exception 'the deletion of an organization cannot be taken back' using errcode = '42501';
end $$;
create trigger organizations_stay_deleted before update of deleted_at on organizations for each row
  when (old.deleted_at is not null and new.deleted_at
    is distinct from old.deleted_at) execute function refuse_undeletion();

-- Called by triggers of the configuration records. Not for an organization that is being deleted: nobody reads its
-- version any more, and one update of the same row for each of thousands of records in one transaction is slow.
create function raise_config_version() returns trigger language plpgsql as $$
begin
  update organizations set config_version = config_version + 1
  where id = coalesce(new.organization_id, old.organization_id) and deleted_at is null;
  return null;
end $$;

create table api_keys (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  name text not null, scopes text[] not null,
  token_hash bytea not null unique,  -- SHA-256 of the whole token; the token itself is never stored
  token_hint text not null,  -- its last four characters, so that people can tell keys apart
  allowed_addresses text[],  -- ranges that it may be used from, in CIDR notation; null: from everywhere
  expires_at timestamptz(3), revoked_at timestamptz(3),
  last_used_at timestamptz(3),  -- to the minute, so that an unused key can be revoked without fear; null: never
  created_at timestamptz(3) not null default now()
);
create index api_keys_by_organization on api_keys (organization_id, id);

-- One-time codes of the console's sign-in links (docs/operate/security.md), as SHA-256. A code is exchanged for a key
-- of the organization. It is looked up before the tenant is known, so the column is not organization_id, which gives
-- tenants rights (db/schema/roles.ts).
create table console_codes (
  code_hash bytea primary key, owner_id text collate "C" not null references organizations (id) on delete cascade,
  expires_at timestamptz(3) not null
);
create index console_codes_by_owner on console_codes (owner_id);  -- the rows of an organization that is deleted

-- Management requests that were sent with an Idempotency-Key, and the answers they got (docs/guide/api.md).
create table idempotent_requests (
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  id bytea not null,  -- SHA-256 of path and key: of one length, whatever was sent
  body_hash bytea not null,  -- SHA-256 of the body; a repeat with another one is refused
  scopes text[] not null,  -- of the API key that asked: an answer may hold what a key with fewer scopes may not see
  lease text not null, leased_until timestamptz not null,  -- who runs it, renewed; after a crash a repeat takes over
  -- status, headers and body, encrypted, because some answers show a secret for the only time; null while it runs
  answer text,
  expires_at timestamptz not null,
  primary key (organization_id, id)
);
create index idempotent_requests_by_expiry on idempotent_requests (expires_at);  -- housekeeping finds what has expired

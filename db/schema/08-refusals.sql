-- Refused webhooks (docs/refused-webhooks.md): a sample of each source's last ones, and how many there were.

-- The last webhooks of each source that were refused, for its organization to see why. API processes write a sample of them, every few
-- seconds in one statement, and keep no more of a source than are shown (db/refusals/record.ts). No other index: retention finds
-- what is old by the id, which begins with the time.
create table refused_webhooks (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  source_id text collate "C" not null references sources (id) on delete cascade,
  refused_at timestamptz(3) not null,
  -- A word of core/refusals/refusal.ts.
  cause text not null,
  -- The limit of the organization that it was about.
  limit_name text,
  -- What the sender was told.
  status smallint not null,
  message text not null, method text not null, client_address text not null,
  -- Secrets are masked, and it is cut.
  headers jsonb not null,
  -- Null: it was refused before the body was read, and the sender did not announce its size.
  payload_size bigint,
  -- The first KiB; null: it was refused before the body was read.
  payload_start bytea
);
create index refused_webhooks_by_source on refused_webhooks (source_id, id desc);

-- How many webhooks of a source were refused in an hour, by cause: all of them, while refused_webhooks has a sample.
create table refusal_counts (
  organization_id text collate "C" not null,
  source_id text collate "C" not null references sources (id) on delete cascade,
  -- When it begins.
  hour timestamptz(0) not null,
  cause text not null,
  -- Empty where it was about no limit of the organization.
  limit_name text not null default '',
  refusals bigint not null default 0, last_at timestamptz(3) not null,
  primary key (source_id, hour, cause, limit_name)
) with (fillfactor = 50);
-- Retention finds what is old.
create index refusal_counts_by_hour on refusal_counts (hour);

-- Refused webhooks (docs/refused-webhooks.md): a sample of each source's last ones, and how many there were.

-- A sample of each source's last refused webhooks. API processes write it every few seconds in one statement and keep no more than is
-- shown (db/refusals/record.ts). No other index: retention finds what is old by the id, which begins with the time.
create table refused_webhooks (
  id text collate "C" primary key, organization_id text collate "C" not null,
  source_id text collate "C" not null references sources (id) on delete cascade, refused_at timestamptz(3) not null,
  cause text not null,  -- a word of core/ingest/refusal.ts
  limit_name text,  -- the limit of the organization that it was about
  status smallint not null, message text not null,  -- what the sender was answered
  method text not null, client_address text not null, headers jsonb not null,  -- headers: cut, with secrets masked
  payload_size bigint,  -- null: it was refused before the body was read, and the sender did not announce its size
  payload_start bytea  -- the first KiB; null: it was refused before the body was read
);
create index refused_webhooks_by_source on refused_webhooks (source_id, id desc);

-- How many webhooks of a source were refused in an hour, by cause: all of them, while refused_webhooks has a sample.
create table refusal_counts (
  organization_id text collate "C" not null, source_id text collate "C" not null references sources (id) on delete cascade,
  hour timestamptz(0) not null, cause text not null,  -- hour: its start
  limit_name text not null default '',  -- empty where it was about no limit of the organization
  refusals bigint not null default 0, last_at timestamptz(3) not null,
  primary key (source_id, hour, cause, limit_name)
) with (fillfactor = 50);
create index refusal_counts_by_hour on refusal_counts (hour);  -- retention finds what is old

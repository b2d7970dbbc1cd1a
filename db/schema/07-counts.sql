-- Counts: what store and record add up to, for statistics, health, figures (GET /api/metrics), usage and quotas; and
-- webhooks that were refused.

-- The ledger. A statement that stores webhooks, records attempts or ends deliveries writes one entry for each key it
-- touches, in its own transaction. Entries are only inserted, and there is no index and no constraint, so statements
-- never wait for each other here. A few seconds later one process adds them to `rollups` (db/ledger/roll-up.ts).
-- Readers add both, in one snapshot, so every committed count is visible at once. Null means 0. Autovacuum keeps what
-- readers scan short.
create table ledger_entries (
  organization_id text collate "C" not null, bucket timestamptz(0) not null,  -- bucket: the start of 5 minutes
  source_id text collate "C" not null, route_id text collate "C" not null default '',
  destination_id text collate "C" not null default '',
  -- Of the answer: 100 to 599, and 600 for any other; 0: no answer; -1: no attempt. So at most 503 values.
  code smallint not null default -1,
  -- Arrivals: events of the source with their bytes, in one entry of it, whatever its route; and events that the route
  -- took, or that its filter refused.
  events integer, bytes bigint, routed integer, filtered integer, last_event_at timestamptz(3),
  deliveries integer,  -- that were made, but for those that take over from another: `failed_over` counts these
  removed_bytes bigint,  -- of payloads that were deleted on request
  -- Attempts; the sum (ms) and histogram of latencies are of those with an answer: {{class, attempts}, ...}
  -- (core/metrics/latency-classes.ts).
  attempts integer, latency_sum bigint, latencies integer[],
  last_success_at timestamptz(3), last_failure_at timestamptz(3),
  -- How deliveries ended. not_sent: failed without an attempt.
  delivered integer, failed integer, failed_over integer, not_sent integer, cancelled integer
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- What the entries add up to, written by the roll-up alone. No foreign keys: counts of deleted destinations and routes
-- stay.
create table rollups (
  organization_id text collate "C" not null,
  -- Length of the bucket in seconds. 300, and 3600 for what is older than a day. 86400: days (UTC) of the organization
  -- as a whole, without other ids, for its usage; kept as long as the organization. 0: all time; the bucket is then
  -- 1970-01-01, and the code 0 or -1.
  step integer not null, bucket timestamptz(0) not null,
  destination_id text collate "C" not null, source_id text collate "C" not null, route_id text collate "C" not null,
  code smallint not null, events bigint not null, bytes bigint not null, routed bigint not null,
  filtered bigint not null, last_event_at timestamptz(3), deliveries bigint not null, removed_bytes bigint not null,
  attempts bigint not null, latency_sum bigint not null, latencies integer[],
  last_success_at timestamptz(3), last_failure_at timestamptz(3),
  delivered bigint not null, failed bigint not null, failed_over bigint not null, not_sent bigint not null,
  cancelled bigint not null, primary key (organization_id, step, bucket, destination_id, source_id, route_id, code)
) with (fillfactor = 70);
create index rollups_by_destination on rollups (destination_id, step, bucket) where destination_id <> '';  -- health
create index rollups_by_route on rollups (route_id, step, bucket) where route_id <> '';  -- statistics of a route

create function add_latencies(one integer[],
  other integer[]) returns integer[] language sql immutable parallel safe as $$
  select array_agg(array[latency, attempts] order by latency) from (
    select histogram[i][1] as latency, sum(histogram[i][2])::integer as attempts
    from (select one || other as histogram) h, generate_subscripts(histogram, 1) i group by 1
  ) classes
$$;

-- A sample of each source's last refused webhooks (docs/guide/refused-webhooks.md). API processes write it every few
-- seconds in one statement and keep no more than is shown (db/history/refusals.ts). No other index: retention finds
-- what is old by the id, which begins with the time.
create table refused_webhooks (
  id text collate "C" primary key, organization_id text collate "C" not null,
  source_id text collate "C" not null references sources (id) on delete cascade, refused_at timestamptz(3) not null,
  cause text not null,  -- a word of core/ingest/refusals.ts
  limit_name text,  -- the limit of the organization that it was about
  status smallint not null, message text not null,  -- what the sender was answered
  method text not null, client_address text not null, headers jsonb not null,  -- headers: cut, with secrets masked
  payload_size bigint,  -- null: it was refused before the body was read, and the sender did not announce its size
  payload_start bytea  -- the first KiB; null: it was refused before the body was read
);
create index refused_webhooks_by_source on refused_webhooks (source_id, id desc);

-- How many webhooks of a source were refused in an hour, by cause: all of them, while refused_webhooks has a sample.
create table refusal_counts (
  organization_id text collate "C" not null,
  source_id text collate "C" not null references sources (id) on delete cascade,
  hour timestamptz(0) not null, cause text not null,  -- hour: its start
  limit_name text not null default '',  -- empty where it was about no limit of the organization
  refusals bigint not null default 0, last_at timestamptz(3) not null,
  primary key (source_id, hour, cause, limit_name)
) with (fillfactor = 50);
create index refusal_counts_by_hour on refusal_counts (hour);  -- retention finds what is old

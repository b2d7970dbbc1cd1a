-- Events, payloads, deliveries and attempts: partitioned by range of the id itself, one partition a day (db/partitions.ts).
-- The primary key stays the id, a look-up by id touches one partition, and retention drops whole partitions.
-- No foreign keys: deletes of parents are rare and done explicitly, and every insert would pay for the check.

create table events (
  id text collate "C" not null primary key,
  organization_id text collate "C" not null,
  source_id text collate "C" not null,
  status text not null,
  routed boolean not null,
  method text not null,
  query text not null,
  headers jsonb not null,
  payload_size integer not null,
  payload_hash text not null,
  deliveries_count integer not null,
  deliveries_succeeded integer not null default 0,
  deliveries_failed integer not null default 0,
  received_at timestamptz(3) not null,
  validated_at timestamptz(3) not null,
  queued_at timestamptz(3) not null
) partition by range (id);
-- The event list of an organization, newest first, and the same for one source.
create index events_by_organization on events (organization_id, id);
create index events_by_source on events (source_id, id);

create table event_payloads (
  event_id text collate "C" not null primary key,
  -- Whether the bytes are valid text (UTF-8 without NUL), so that search may decode them without failing.
  is_text boolean not null,
  body bytea not null
) partition by range (event_id);

create table deliveries (
  id text collate "C" not null primary key,
  organization_id text collate "C" not null,
  event_id text collate "C" not null,
  source_id text collate "C" not null,
  route_id text collate "C",
  destination_id text collate "C" not null,
  priority integer not null,
  status text not null,
  -- Whether this delivery counts in its event's totals: skipped and superseded ones do not.
  counted boolean not null,
  attempt_count integer not null default 0,
  status_code integer,
  latency integer,
  error text,
  next_attempt_at timestamptz(3),
  delivered_at timestamptz(3),
  finished_at timestamptz(3),
  failover_of text collate "C",
  replay_of text collate "C"
) partition by range (id);
-- No index holds a column that an attempt's result changes, so that the update of a delivery is heap-only (HOT).
create index deliveries_by_event on deliveries (event_id);                -- event with deliveries, timeline, delete
create index deliveries_by_organization on deliveries (organization_id, id);  -- delivery list
create index deliveries_by_destination on deliveries (destination_id, id);    -- list filter; cancel on delete

create table attempts (
  delivery_id text collate "C" not null,
  attempt_number integer not null,
  status text not null,
  status_code integer,
  error text,
  latency integer not null,
  started_at timestamptz(3) not null,
  completed_at timestamptz(3) not null,
  request_headers jsonb not null,
  response_headers jsonb,
  response_body text,
  primary key (delivery_id, attempt_number)
) partition by range (delivery_id);

-- Deliveries whose first attempt has no result yet: what relays start workflows from. A row is inserted with its
-- delivery and deleted with the result of the first attempt; claiming writes nothing. Small, so it stays in memory.
create table outbox (
  delivery_id text collate "C" not null,
  destination_id text collate "C" not null,
  organization_id text collate "C" not null,
  event_id text collate "C" not null,
  source_id text collate "C" not null,
  route_id text collate "C",
  priority integer not null,
  shard smallint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000);
-- The order of claiming: per destination, higher priority first, then oldest. Unique, so it serves deletes as well.
create unique index outbox_order on outbox (destination_id, priority desc, delivery_id);

-- Which relay may claim which of the 64 shards. An expired lease may be taken by any relay.
create table relay_shards (
  shard smallint primary key,
  owner text,
  expires_at timestamptz(3) not null default '-infinity'
);
insert into relay_shards (shard) select generate_series(0, 63);
create table relays (
  owner text primary key,
  seen_at timestamptz(3) not null
);

-- The status of an event from its totals (decisions, "Events"); the same rule for every statement that changes them.
create function event_status(total integer, succeeded integer, failed integer) returns text
language sql immutable parallel safe as $$
  select case
    when succeeded + failed < total then 'pending'
    when failed = 0 then 'delivered'
    when succeeded = 0 then 'failed'
    else 'partial'
  end
$$;

-- Roll-ups, written in the same transaction as what they count. `bucket` is the start of a 5-minute interval;
-- the bucket 'epoch' (1970-01-01) holds the total of all time.

-- Events accepted per source and per route (`subject_id` is either).
create table ingest_stats (
  subject_id text collate "C" not null,
  bucket timestamptz(0) not null,
  events bigint not null default 0,
  filtered bigint not null default 0,
  last_event_at timestamptz(3),
  primary key (subject_id, bucket)
) with (fillfactor = 50);

-- Finished deliveries per destination and route. `latency_*` count attempts that got a response.
create table delivery_stats (
  destination_id text collate "C" not null,
  route_id text collate "C" not null,
  bucket timestamptz(0) not null,
  succeeded bigint not null default 0,
  failed bigint not null default 0,
  latency_sum bigint not null default 0,
  latency_count bigint not null default 0,
  last_delivery_at timestamptz(3),
  last_success_at timestamptz(3),
  last_failure_at timestamptz(3),
  primary key (destination_id, route_id, bucket)
) with (fillfactor = 50);
create index delivery_stats_by_route on delivery_stats (route_id, bucket);

-- Latency histogram per destination for percentiles; `latency` is the upper edge of its class in ms (core/latency-classes.ts).
create table latency_stats (
  destination_id text collate "C" not null,
  bucket timestamptz(0) not null,
  latency integer not null,
  attempts bigint not null,
  primary key (destination_id, bucket, latency)
) with (fillfactor = 50);

-- What GET /api/metrics and the health of destinations read. `delivery_figures` and `latency_stats` have a row for each way, code,
-- class of latencies and bucket, so that statements can add to them; a day of an organization with sixty ways is tens of thousands.
-- Ten minutes after its bucket began, housekeeping packs such a row into these tables (db/history/figures/pack-figures.ts): one row
-- for each organization, or destination, and bucket, in steps of 5 minutes, an hour and a day. A late count makes a new row, which is
-- packed like any other. Readers add what is not packed yet.
-- Processes of an earlier release see only what is not packed.

-- Ways that deliveries went, by a number. Without foreign keys: what went to a deleted destination stays.
create table figure_ways (
  id bigint generated always as identity primary key,
  organization_id text collate "C" not null,
  destination_id text collate "C" not null,
  route_id text collate "C" not null,
  source_id text collate "C" not null,
  -- When figures of it were packed last: it is removed when the last of them are.
  used_on date not null,
  unique (organization_id, destination_id, route_id, source_id)
);

create table figure_history (
  organization_id text collate "C" not null,
  -- The length of the bucket: 300, 3600 or 86400 s.
  step integer not null,
  bucket timestamptz(0) not null,
  -- One after the other: the way, the status code, and the sums of `delivery_figures` in the order of its columns.
  counts json not null,
  primary key (organization_id, step, bucket)
);

create table latency_history (
  destination_id text collate "C" not null,
  step integer not null,
  bucket timestamptz(0) not null,
  -- One after the other: a class of latencies, and its attempts.
  counts json not null,
  -- Of all classes: tells which destinations are the busiest.
  attempts bigint not null,
  primary key (destination_id, step, bucket)
);

-- A question for a month of many routes reads tens of thousands of rows, which lie scattered: it reads the index alone now. The table
-- is written by housekeeping only.
alter table ingest_stats drop constraint ingest_stats_pkey,
  add constraint ingest_stats_pkey primary key (subject_id, bucket) include (events, filtered);

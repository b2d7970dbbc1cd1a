-- Files for warehouse destinations (docs/warehouses.md). What waits for one stays in the outbox, which the relays read below
-- 'dst_wh_' only: cancelling, deleting, failing over and replaying find it where they find every delivery. A file's
-- deliveries leave the outbox when its membership is fixed, and say so in `batch_id`.

-- The batch a delivery was taken into; null for all that go to http. No index: the deliveries of a batch are found by their
-- destination and the range of their ids, so that taking them costs a heap-only update.
alter table deliveries add column batch_id text collate "C";

create table warehouse_batches (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  destination_id text collate "C" not null,
  -- open: it fills (its deliveries wait in the outbox, and `events` and `bytes` are those of the last look);
  -- frozen: its deliveries are fixed and it waits for an upload; uploading; uploaded: the object is there and its deliveries
  -- are being ended; written and failed: it has ended.
  status text not null check (status in ('open', 'frozen', 'uploading', 'uploaded', 'written', 'failed')),
  partition text not null,
  -- Fixed when it is frozen, so that every upload writes the same object.
  key text,
  file_format text,
  field_mapping jsonb,
  first_delivery_id text collate "C",
  last_delivery_id text collate "C",
  waiting_since timestamptz(3),              -- of its oldest delivery
  events integer not null,
  bytes bigint not null,                     -- of the payloads; once uploaded, of the object
  misfits integer,                           -- values that became the default or null of their column
  sha256 text,
  attempts integer not null default 0,       -- uploads begun
  error text,                                -- of the latest upload, one sentence
  created_at timestamptz(3) not null default now(),
  frozen_at timestamptz(3),
  started_at timestamptz(3),                 -- the latest upload
  latency integer,                           -- of the latest upload that had an outcome, ms
  uploaded_at timestamptz(3),
  finished_at timestamptz(3)
) with (fillfactor = 70);
create index warehouse_batches_by_destination on warehouse_batches (destination_id, id);
-- One that fills for each partition, and one at a time on its way to the store.
create unique index warehouse_batches_open on warehouse_batches (destination_id, partition) where status = 'open';
create unique index warehouse_batches_under_way on warehouse_batches (destination_id) where status in ('frozen', 'uploading');

-- Warehouse destinations with something to write, each looked after by its workflow `warehouse:<destination>`.
create table warehouse_flushes (
  destination_id text collate "C" primary key,
  organization_id text collate "C" not null,
  -- When a worker sees to it that the workflow runs: a lease, so that a lost workflow is started again.
  due_at timestamptz(3) not null,
  -- The version of the destination its workflow has heard of; null when that was deleted.
  seen_version integer,
  -- While batches fill: workers add what came since the last look, and tell the workflow when one may be full. Null: not asked.
  counted_to text collate "C",
  counted_at timestamptz(3),
  gained_events integer not null default 0,
  gained_bytes bigint not null default 0,
  needed_events integer,
  needed_bytes bigint
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index warehouse_flushes_due on warehouse_flushes (due_at);

-- Files for warehouse destinations (docs/guide/warehouses.md). What waits for one stays in the outbox, which the relays
-- read below 'dst_wh_' only: cancelling, deleting, failing over and replaying find it where they find every delivery. A
-- file's deliveries leave the outbox when its membership is fixed, and say so in deliveries.batch_id.

create table warehouse_batches (
  id text collate "C" primary key, organization_id text collate "C" not null, destination_id text collate "C" not null,
  -- open: it fills, its deliveries wait in the outbox, and `events` and `bytes` are those of the last look; frozen: its
  -- deliveries are fixed and it waits for an upload; uploaded: the object is there and its deliveries are being ended;
  -- written, failed: it has ended.
  status text not null check (status in ('open', 'frozen', 'uploading', 'uploaded', 'written', 'failed')),
  partition text not null,
  -- A batch whose file would be too large gives half of its deliveries to a new batch, again and again until both fit
  -- (db/warehouse/freeze.ts). The batch that gave its deliveries; null for one that was frozen as it is.
  half_of text collate "C",
  -- Fixed when it is frozen, so that every upload writes the same object with the same bytes, whatever is changed
  -- meanwhile. How the keys of its destination sort (db/warehouse/batches.ts): 'written' or 'received'.
  key text, key_order text,
  file_format text, payload_column text, compression text, field_mapping jsonb, first_delivery_id text collate "C",
  last_delivery_id text collate "C",
  waiting_since timestamptz(3),  -- of its oldest delivery
  events integer not null,
  bytes bigint not null,  -- of the payloads; once uploaded, of the object
  misfits integer,  -- values that became the default or null of their column
  -- Which columns they did not fit: [{"target", "count", "eventId"}], the event of the first one. Null until it is
  -- written.
  conversions jsonb,
  -- Of the events in its rows. Null until it is written.
  first_received_at timestamptz(3), last_received_at timestamptz(3),
  sha256 text,
  attempts integer not null default 0,  -- uploads begun
  error text,  -- of the latest upload, one sentence
  error_summary text,  -- what logs, mails and Temporal may have of it (core/text/error-summary.ts)
  created_at timestamptz(3) not null default now(), frozen_at timestamptz(3),
  started_at timestamptz(3),  -- the latest upload
  latency integer,  -- of the latest upload that had an outcome, ms
  uploaded_at timestamptz(3), finished_at timestamptz(3)
) with (fillfactor = 70);
create index warehouse_batches_by_destination on warehouse_batches (destination_id, id);
-- One that fills for each partition, and one at a time out of the outbox. Halves of a destination wait in parallel.
create unique index warehouse_batches_open on warehouse_batches (destination_id, partition) where status = 'open';
create unique index warehouse_batches_under_way on warehouse_batches (destination_id)
  where status in ('frozen', 'uploading') and half_of is null;
create index warehouse_batches_on_their_way on warehouse_batches (destination_id)
  where status in ('frozen', 'uploading', 'uploaded');
-- The order in which files are written (db/warehouse/batches.ts), for loaders that ask what is new.
create index warehouse_batches_by_writing on warehouse_batches (destination_id, uploaded_at)
  where uploaded_at is not null;
create index warehouse_batches_by_freezing on warehouse_batches (destination_id, frozen_at) where frozen_at is not null;

-- Warehouse destinations with something to write, each looked after by its workflow `warehouse:<destination>`.
create table warehouse_flushes (
  destination_id text collate "C" primary key, organization_id text collate "C" not null,
  -- When a worker sees to it that the workflow runs: a lease, so that a lost workflow is started again.
  due_at timestamptz(3) not null,
  seen_version integer,  -- the version of the destination that its workflow was told of; null when that was deleted
  -- While batches fill: workers add what came since the last look, and tell the workflow when one may be full. What
  -- that look, or the last count of what came since, could see (db/warehouse/flushes.ts). Null: not asked.
  counted_in pg_snapshot, counted_at timestamptz(3),
  gained_events integer not null default 0, gained_bytes bigint not null default 0, needed_events integer,
  needed_bytes bigint
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index warehouse_flushes_due on warehouse_flushes (due_at);

-- The workflow of a warehouse is told of each change of its destination.
create trigger destinations_wake after update or delete on destinations for each row
  when (old.id >= 'dst_wh_') execute function wake_workers();

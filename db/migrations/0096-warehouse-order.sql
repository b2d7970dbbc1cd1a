-- The order in which the files of a warehouse are written (db/warehouse/order.ts), for loaders that ask what is new.
alter table warehouse_batches
  -- How the keys of its destination sort, fixed with the batch: 'written' or 'received'. Null, in batches of the release before: received.
  add column key_order text,
  -- Of the events in its rows. Null until it is written, and in batches of the release before.
  add column first_received_at timestamptz(3),
  add column last_received_at timestamptz(3);
create index warehouse_batches_by_writing on warehouse_batches (destination_id, uploaded_at) where uploaded_at is not null;
create index warehouse_batches_by_freezing on warehouse_batches (destination_id, frozen_at) where frozen_at is not null;

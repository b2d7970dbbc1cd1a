-- A batch whose file would be too large gives half of its deliveries to a new batch, again and again until both fit
-- (db/warehouse-batch-halves.ts). The halves of a destination wait for their uploads side by side.

-- The batch that gave its deliveries; null for one that was frozen as it is.
alter table warehouse_batches add column half_of text collate "C";

-- Still one at a time out of the outbox.
drop index warehouse_batches_under_way;
create unique index warehouse_batches_under_way on warehouse_batches (destination_id)
  where status in ('frozen', 'uploading') and half_of is null;

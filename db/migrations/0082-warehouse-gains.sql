-- While batches fill: what the last look, or the last count of what came since, could see (db/warehouse/flushes.ts). Null: not asked.
-- `counted_to` is of the release before, which may still run.
alter table warehouse_flushes add column counted_in pg_snapshot;

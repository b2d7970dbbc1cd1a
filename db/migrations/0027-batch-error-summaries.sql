-- As 0026, for files of warehouses.
alter table warehouse_batches add column error_summary text;

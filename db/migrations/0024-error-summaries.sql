-- What logs, mails and Temporal may have of an error: never what a transform, a destination or a store said (core/error-summary.ts).
-- Null beside an error: an earlier release wrote it.
alter table deliveries add column error_summary text;
alter table warehouse_batches add column error_summary text;

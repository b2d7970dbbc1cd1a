-- What logs, mails and Temporal may have of an error: never what a transform, a destination or a store said (core/error-summary.ts).
-- Null beside an error: an earlier release wrote the row. Should one run beside and write only the error of a later attempt, the
-- summary is that of the attempt before.
alter table deliveries add column error_summary text;

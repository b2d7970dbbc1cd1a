-- Which columns of a file the values did not fit that `misfits` counts: [{"target", "count", "eventId"}], the event of the first one. Null
-- until it is written, and in batches of the release before.
alter table warehouse_batches add column conversions jsonb;

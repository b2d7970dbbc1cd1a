-- What a frozen batch's file looks like is fixed with it, like its format and mapping: an upload that is repeated after a change of
-- the destination writes the same bytes. Null, in batches of the release before: payloads as JSON, without compression.
alter table warehouse_batches add column payload_column text, add column compression text;

-- The span that recorded a webhook (W3C Trace Context), of which its attempts are children. Null: it was not recorded; then what its sender
-- said, in the headers, is handed on.
alter table events add column traceparent text;

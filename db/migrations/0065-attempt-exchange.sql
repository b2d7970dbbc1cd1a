-- How an attempt went over the network, and by which versions of its configuration (db/hot-path/attempt-exchange.ts). Null: recorded
-- by an earlier release, or from a summary, or there was nothing to connect to.
alter table attempts add column exchange text;

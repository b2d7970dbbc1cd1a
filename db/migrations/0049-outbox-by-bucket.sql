-- What waits, by bucket of 64 positions (core/positions.ts). With many relays each has few buckets, and claims from these alone; by
-- the other indexes it would read what waits for all relays (db/hot-path/claim.ts).
create index outbox_by_bucket on outbox ((shard / 2), organization_id, destination_id, priority desc, delivery_id)
  with (deduplicate_items = off);

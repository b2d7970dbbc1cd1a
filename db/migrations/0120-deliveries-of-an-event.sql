-- The deliveries of an event in the order of their ids: an event that is replayed again and again has any number of them, and reads
-- take the newest ones only. No attempt's result changes an id, so the update of a delivery stays heap-only.
drop index deliveries_by_event;
create index deliveries_by_event on deliveries (event_id, id);

-- Events by their route or destination (db/history/events-by-deliveries.ts): deliveries that were not made together with their event
-- (replays, failovers), by the event. The first eight characters of the time in an id are a slot of 1,024 ms; a delivery whose
-- event is of another slot was made apart from it, or on the edge between two. So these indexes are small, and inserting an
-- ordinary delivery costs the comparison only. No column of them changes, so recording an attempt stays a heap-only update.
create index deliveries_apart_by_destination on deliveries (destination_id, event_id)
  where substr(id, 5, 8) <> substr(event_id, 5, 8);
create index deliveries_apart_by_route on deliveries (route_id, event_id)
  where substr(id, 5, 8) <> substr(event_id, 5, 8);

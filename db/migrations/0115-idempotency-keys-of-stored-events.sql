-- Whether an event is stored: the key of one that is gone is free (hot-path/store-events.ts). Volatile, so that each call has a snapshot
-- of its own: the caller may have waited for the commit that stored both the key and the event.
create function event_is_stored(event_id text) returns boolean language plpgsql volatile as $$
begin
  return exists (select from events where id = $1);
end $$;

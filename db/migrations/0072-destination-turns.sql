-- Destinations at which fewer attempts may be under way than there are workers (max_concurrency): workers take turns. A place is held
-- by one worker at a time, which says again and again that it goes on to hold it; a place that is not renewed is free.
create table destination_turns (
  destination_id text collate "C" not null references destinations (id) on delete cascade,
  -- From 0 to max_concurrency - 1.
  place integer not null,
  worker text not null,
  held_until timestamptz not null,
  primary key (destination_id, place)
) with (fillfactor = 50);

-- Workers that wait for a place, the first one first.
create table destination_turn_waits (
  destination_id text collate "C" not null references destinations (id) on delete cascade,
  worker text not null,
  since timestamptz not null,
  seen_at timestamptz not null,
  primary key (destination_id, worker)
) with (fillfactor = 50);

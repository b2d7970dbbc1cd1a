-- How many attempts each worker may have under way at a destination, as it said last. A row is written every few seconds at most,
-- and only while the destination is used. Nothing depends on it but what operators see.
create table destination_concurrency (
  destination_id text collate "C" not null references destinations (id) on delete cascade,
  worker text not null,
  places integer not null,
  seen_at timestamptz not null,
  primary key (destination_id, worker)
) with (fillfactor = 50);

-- The limit of all workers together at a destination that copes with fewer attempts than workers use it: they take turns at so many
-- places (core/shared-limit.ts). A row is written about once a second by each of them, and forgotten after a minute without use.
create table destination_shared_limits (
  destination_id text collate "C" primary key references destinations (id) on delete cascade,
  places integer not null,
  -- Counts decreases: what was sent before the last one says nothing.
  version integer not null,
  -- Outcomes of this window and the most places that were held in it, and outcomes since the limit has changed.
  answered integer not null,
  refused integer not null,
  most_held integer not null,
  outcomes integer not null,
  -- The part that is refused whatever is under way.
  usual double precision not null,
  -- What was too much; null: nothing is known of that.
  too_much integer,
  patience_ms integer not null,
  window_at timestamptz not null,
  changed_at timestamptz not null,
  seen_at timestamptz not null
) with (fillfactor = 50);

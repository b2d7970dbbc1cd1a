-- The figures of the whole installation, for the metrics of every process. One process at a time takes them (db/metrics/snapshot.ts);
-- the others read this row, so that what it costs does not grow with the number of processes or of scrapes.
create table metrics_snapshot (
  figures jsonb not null default '{}',
  taken_at timestamptz not null default '-infinity',
  -- From when the next ones may be taken. Whoever takes them moves it ahead first, like a lease.
  next_at timestamptz not null default '-infinity',
  taken_by text
) with (fillfactor = 50);
create unique index metrics_snapshot_one_row on metrics_snapshot ((true));
insert into metrics_snapshot default values;

-- Housekeeping in pieces that come through at any size (db/ranges.ts).

-- Changes of settled rows are folded into the counts a piece at a time, and dropped with the range of ids that is being counted.
create index history_changes_by_id on history_changes (id);
-- Counts go with the rows of their day.
create index history_counts_by_start on history_counts (kind, start);

-- What housekeeping could not do, by part (docs/operating.md).
create table housekeeping_failures (
  part text primary key,
  total bigint not null,
  last_at timestamptz(3) not null,
  last_error text not null
);

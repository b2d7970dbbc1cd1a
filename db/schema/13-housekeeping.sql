-- What housekeeping and reconciliation keep of themselves, and the figures of the whole installation.

-- Disagreements between this database and Temporal that were repaired so far, by kind (docs/how-a-webhook-travels.md, "Reconcile").
create table repairs (
  kind text primary key, total bigint not null, last_at timestamptz(3) not null
);

create table reconciliation (
  listed_at timestamptz(3) not null  -- when the workflows that run in Temporal were last gone through
);
create unique index reconciliation_one_row on reconciliation ((true));
insert into reconciliation values ('-infinity');

-- What housekeeping could not do, by part (docs/operating.md).
create table housekeeping_failures (
  part text primary key, total bigint not null, last_at timestamptz(3) not null, last_error text not null
);

-- The figures of the whole installation, for the metrics of every process. One process at a time takes them (db/metrics/snapshot.ts);
-- the others read this row, so that what it costs does not grow with the number of processes or of scrapes.
create table metrics_snapshot (
  figures jsonb not null default '{}', taken_at timestamptz not null default '-infinity',
  -- From when the next ones may be taken. Whoever takes them moves it ahead first, like a lease.
  next_at timestamptz not null default '-infinity',
  taken_by text
) with (fillfactor = 50);
create unique index metrics_snapshot_one_row on metrics_snapshot ((true));
insert into metrics_snapshot default values;

-- The migrations that this database has had (db/migrate/).
create table schema_migrations (
  name text primary key, executed_at timestamptz not null default now()
);

-- What housekeeping and reconciliation keep of themselves, and the figures of the whole installation.

-- One row for each part of housekeeping that failed (docs/operate/temporal-ui.md), for each kind of disagreement with
-- Temporal that was repaired (docs/internals/path-of-a-webhook.md, "Reconcile"), and for the list of running workflows,
-- which one process at a time goes through.
create table upkeep (
  kind text not null check (kind in ('failure', 'repair', 'listing')), part text not null,
  total bigint not null default 0, last_at timestamptz(3) not null, last_error text,
  primary key (kind, part)
);
insert into upkeep (kind, part, last_at) values ('listing', 'workflows', '-infinity');

-- The figures of the whole installation, for the metrics of every process. One process at a time takes them
-- (db/operations/figures.ts); the others read this row, so that what it costs does not grow with the number of
-- processes or of scrapes.
create table metrics_snapshot (
  figures jsonb not null default '{}', taken_at timestamptz not null default '-infinity',
  -- From when the next ones may be taken. Whoever takes them moves it ahead first, like a lease.
  next_at timestamptz not null default '-infinity',
  taken_by text
) with (fillfactor = 50);
create unique index metrics_snapshot_one_row on metrics_snapshot ((true));
insert into metrics_snapshot default values;

create table schema_migrations (
  name text primary key, executed_at timestamptz not null default now()
);

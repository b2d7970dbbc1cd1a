-- What housekeeping and reconciliation keep of themselves, and the figures of the whole installation.

-- One row for each part of housekeeping that failed (docs/operate/temporal-ui.md), for each kind of disagreement with
-- Temporal that was repaired (docs/internals/path-of-a-webhook.md, "Reconcile"), and for what one process at a time
-- does for all: the list of running workflows, and the figures of the whole installation, for the metrics of every
-- process (db/operations/figures.ts). The others read the figures here, so that what they cost does not grow with the
-- number of processes or of scrapes.
create table upkeep (
  kind text not null check (kind in ('failure', 'repair', 'listing', 'figures')), part text not null,
  total bigint not null default 0, last_at timestamptz not null, last_error text,
  -- Of the figures: when the next ones may be taken, which whoever takes them moves ahead first, like a lease; and who
  -- that is.
  figures jsonb, next_at timestamptz, taken_by text,
  primary key (kind, part)
) with (fillfactor = 50);
insert into upkeep (kind, part, last_at) values ('listing', 'workflows', '-infinity');
insert into upkeep (kind, part, last_at, figures, next_at)
values ('figures', 'installation', '-infinity', '{}', '-infinity');

create table schema_migrations (
  name text primary key, executed_at timestamptz not null default now()
);

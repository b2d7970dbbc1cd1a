-- Disagreements between this database and Temporal, found and repaired (docs/how-a-webhook-travels.md, "Reconcile").

-- Set on a delivery that goes back to the outbox because its workflow is gone; it goes on from its recorded attempts.
-- lost: Temporal does not know the workflow. ended: it has ended by itself and this database does not know how (it was restored
-- from a backup), so that its id may be used again.
alter table outbox add column resume text check (resume in ('lost', 'ended'));

-- What was repaired so far, by kind.
create table repairs (
  kind text primary key,
  total bigint not null,
  last_at timestamptz(3) not null
);

create table reconciliation (
  -- When the workflows that run in Temporal were last gone through.
  listed_at timestamptz(3) not null
);
create unique index reconciliation_one_row on reconciliation ((true));
insert into reconciliation values ('-infinity');

-- Hours with open deliveries: where those are that wait for their workflow, among millions that do not.
create index history_counts_open on history_counts (start)
  where kind = 'delivery' and span = 'hour' and status in ('pending', 'retrying', 'circuit_open') and total <> 0;
-- Batches on their way, among all that were ever written.
create index warehouse_batches_on_their_way on warehouse_batches (destination_id)
  where status in ('frozen', 'uploading', 'uploaded');

-- Deliveries that wait for a retry: their workflows wait in Temporal, and only this table knows how many there are, of whom.
-- Triggers keep it, in the transaction that changes the delivery, so that no statement and no earlier release can forget it.
-- A delivery that succeeds at its first attempt costs two comparisons.
--
-- Deliveries that wait already when this is applied get their row at their next attempt.
create table retrying_deliveries (
  delivery_id text collate "C" primary key,
  organization_id text collate "C" not null,
  destination_id text collate "C" not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000);

create function note_retrying() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.status = 'retrying' then
    insert into retrying_deliveries (delivery_id, organization_id, destination_id)
    values (new.id, new.organization_id, new.destination_id) on conflict do nothing;
  else
    delete from retrying_deliveries where delivery_id = old.id;
  end if;
  return null;
end $$;

create trigger deliveries_retrying after update of status on deliveries
  for each row when (old.status = 'retrying' or new.status = 'retrying')
  execute function note_retrying();
create trigger deliveries_retrying_deleted after delete on deliveries
  for each row when (old.status = 'retrying')
  execute function note_retrying();

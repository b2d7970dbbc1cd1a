-- With the rights of the owner of the tables: a tenant's role sees a row here only while its destination or its route is there, and
-- when this runs, after the deletion of the route, both may be gone. The rows are those of a route that the role could change.
create or replace function forget_notifications() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'DELETE' or not new.notify_on_recovery then
    delete from failing_destinations where route_id = old.id;
  end if;
  if tg_op = 'DELETE' then
    delete from route_notifications where route_id = old.id;
  end if;
  return null;
end $$;

-- The records of an organization may be forgotten once its deletion was requested (forget_audit_of). So a request stays: otherwise
-- the role of the services could request it, have the records forgotten, and take it back.
create function refuse_undeletion() returns trigger language plpgsql as $$
begin
  raise exception 'the deletion of an organization cannot be taken back' using errcode = '42501';
end $$;
create trigger organizations_stay_deleted before update of deleted_at on organizations
  for each row when (old.deleted_at is not null and new.deleted_at is distinct from old.deleted_at)
  execute function refuse_undeletion();

-- Who writes a record does not choose its time. Only the owner of the table may, for tests and for moving data.
create function date_audit_record() returns trigger language plpgsql as $$
begin
  if current_user <> (select pg_get_userbyid(relowner) from pg_class where oid = tg_relid) then
    new.at := now();
  end if;
  return new;
end $$;
create trigger audit_records_are_dated before insert on audit_records
  for each row execute function date_audit_record();

-- Who did what (docs/guide/access.md).

-- One row for each change, and for each read of payloads or secrets, over the management API, by an operator's command,
-- or by a provider that sends the secret of its source in a handshake. Ids and names of members only, never a value. No
-- foreign key: the record of a deletion outlives what was deleted.
create table audit_records (
  id text collate "C" primary key, organization_id text collate "C" not null, at timestamptz(3) not null default now(),
  actor text not null check (actor in ('key', 'operator', 'provider')),
  -- Of the API key, as it was then; the others have none.
  key_id text collate "C", key_name text,
  address text, user_agent text, request_id text,
  action text not null,  -- the operation of the API, or the operator's command
  resource text not null,
  -- The first of them when there are many; how many there were is in record_count.
  record_ids text[] not null default '{}', record_count integer not null default 0,
  members text[] not null default '{}', outcome text not null check (outcome in ('done', 'refused', 'failed')),
  status integer, code text  -- of a refused or failed request
);
create index audit_records_by_organization on audit_records (organization_id, at desc, id desc);
create index audit_records_by_key on audit_records (organization_id, key_id, at desc);
create index audit_records_by_record on audit_records using gin (record_ids);
create index audit_records_by_time on audit_records (at);  -- housekeeping finds what is old

-- Nobody changes a record, and only the functions below delete some. They run as the owner of the table, so a role that
-- is not the owner cannot delete even with the right to; the owner's own statements are stopped unless they say that
-- they mean it.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('hookyard.forgets_audit', true) = 'on'
    and current_user = (select pg_get_userbyid(relowner) from pg_class where oid = tg_relid)
  then
    return old;
  end if;
  raise exception 'audit records are neither changed nor deleted; retention removes them' using errcode = '42501';
end $$;
create trigger audit_records_are_final before update or delete on audit_records
  for each row execute function refuse_audit_change();
create trigger audit_records_are_not_emptied before truncate on audit_records
  for each statement execute function refuse_audit_change();

-- Who writes a record does not choose its time. Only the owner of the table may, for tests and for moving data.
create function date_audit_record() returns trigger language plpgsql as $$
begin
  if current_user <> (select pg_get_userbyid(relowner) from pg_class where oid = tg_relid) then
    new.at := now();
  end if;
  return new;
end $$;
create trigger audit_records_are_dated before insert on audit_records for each row execute function date_audit_record();

-- Deletes some of the oldest records. At least the last 30 days stay, so that who takes over the service cannot remove
-- its traces.
create function forget_audit_records(kept_days integer, most integer) returns integer
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  forgotten integer;
begin
  if kept_days is null or kept_days < 30 then
    raise exception 'audit records are kept for at least 30 days' using errcode = '22023';
  end if;
  perform set_config('hookyard.forgets_audit', 'on', true);
  delete from audit_records where id = any(array(
    select id from audit_records where at < now() - make_interval(days => kept_days) order by at limit most));
  get diagnostics forgotten = row_count;
  perform set_config('hookyard.forgets_audit', 'off', true);
  return forgotten;
end $$;

-- Deletes some records of an organization that is gone or going, but for those of operators: that it was deleted stays
-- on record.
create function forget_audit_of(organization text, most integer) returns integer
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  forgotten integer;
begin
  if exists (select from organizations o where o.id = organization and o.deleted_at is null) then
    raise exception 'the organization exists; its audit records stay' using errcode = '22023';
  end if;
  perform set_config('hookyard.forgets_audit', 'on', true);
  delete from audit_records where id = any(array(
    select id from audit_records where organization_id = organization and actor <> 'operator' limit most));
  get diagnostics forgotten = row_count;
  perform set_config('hookyard.forgets_audit', 'off', true);
  return forgotten;
end $$;

-- The records of an organization about one thing, by the index of their ids. With row-level security PostgreSQL looks
-- at a policy before anything that is not leakproof, and `@>` of arrays is not: the role of the tenants would read all
-- records of its organization. So this runs as the owner of the table, with the condition of the policy
-- (db/schema/roles.ts).
--
-- `offset 0`: by the index of ids, whatever the organization. They are unique, so what is found is of one.
create function audit_records_about(record text) returns setof text
language sql stable rows 100 security definer set search_path = pg_catalog, public, pg_temp as $$
  select id from (select id, organization_id from audit_records where record_ids @> array[record] offset 0) found
  where organization_id = current_setting('hookyard.organization_id', true)
$$;

revoke execute on function forget_audit_records(integer, integer), forget_audit_of(text, integer),
audit_records_about(text) from public;

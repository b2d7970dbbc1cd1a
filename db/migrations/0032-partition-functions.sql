-- Partitions are made and dropped by these functions, with the rights of the owner of the tables, so that the role of the services
-- needs none to change the schema (docs/database-roles.md). They can do nothing else: the table is one of four, the rest of the
-- name is a day. Names are qualified and the search path is fixed, so that no other object can stand in for one of these.

-- The smallest id of a day: its first ten characters after the prefix are the milliseconds since 1970 (core/ids.ts).
create function id_floor(prefix text, day date) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select prefix || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + (ms >> shift & 31)::int, 1), '' order by shift desc)
         || repeat('0', 16)
  from (select extract(epoch from day)::bigint * 1000 as ms) at, generate_series(0, 45, 5) as shift
$$;

create function partitioned_prefix(parent text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if parent in ('events', 'event_payloads') then return 'evt_'; end if;
  if parent in ('deliveries', 'attempts') then return 'dlv_'; end if;
  raise exception '% has no partitions', parent using errcode = 'insufficient_privilege';
end $$;

-- Makes the partition of a day unless it exists. A table that is made for itself and then attached locks its parent against other
-- changes of the schema only; `create table ... partition of` would lock out readers and writers (PostgreSQL manual, CREATE TABLE
-- and ALTER TABLE).
create function make_partition(parent text, day date) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  prefix text := public.partitioned_prefix(parent);
  name text := parent || to_char(day, '_YYYYMMDD');
  -- Deliveries and events are updated once or twice after their insert: room on the page keeps those updates heap-only.
  storage text := case parent when 'events' then 'with (fillfactor = 85)' when 'deliveries' then 'with (fillfactor = 70)' else '' end;
begin
  -- By one process at a time (LOCKS of db/sql-rules.ts).
  perform pg_advisory_xact_lock(48657964);
  execute format('create table if not exists public.%I (like public.%I including all) %s', name, parent, storage);
  if not exists (select from pg_inherits where inhrelid = format('public.%I', name)::regclass) then
    execute format('alter table public.%I attach partition public.%I for values from (%L) to (%L)',
                   parent, name, public.id_floor(prefix, day), public.id_floor(prefix, day + 1));
  end if;
end $$;

-- Drops the partition of a day that is over.
create function drop_partition(parent text, day date) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform public.partitioned_prefix(parent);
  if day >= (now() at time zone 'UTC')::date then
    raise exception 'the day % is not over', day using errcode = 'insufficient_privilege';
  end if;
  execute format('drop table if exists public.%I', parent || to_char(day, '_YYYYMMDD'));
end $$;

revoke execute on function make_partition(text, date), drop_partition(text, date) from public;

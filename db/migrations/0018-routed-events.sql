-- Events that no route took become a filter of the event list and of replays, with exact totals like every other filter
-- (migration 0010): what is settled is counted apart by `routed`. A replay routes an event, and changes its status with it
-- (db/replay.ts), so the triggers that note a change of the status note this one as well.

-- Changes of settled rows wait until this has ended: the counts below must be those of the rows. Ingest makes none. Lists are read
-- until the columns are added, after the long part.
lock table history_progress, history_counts, history_changes in share row exclusive mode;

-- One look at every event that is settled: its id is below the smallest one of that time (core/ids.ts, idFloor), so that newer
-- partitions are not read.
create temporary table unrouted on commit drop as
select e.organization_id, e.source_id, e.status, date_bin('1 hour', id_time(e.id), 'epoch') as hour, count(*) as total
from events e join sources s on s.id = e.source_id
where not e.routed and e.id < (
  select 'evt_' || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + (ms >> shift & 31)::int, 1), '' order by shift desc)
         || repeat('0', 16)
  from (select round(extract(epoch from settled_before) * 1000)::bigint as ms from history_progress) settled,
       generate_series(0, 45, 5) as shift
) collate "C"
group by 1, 2, 3, 4;

-- Deliveries are always routed.
alter table history_changes add column routed boolean not null default true;
alter table history_counts add column routed boolean not null default true;
alter table history_counts drop constraint history_counts_pkey;
alter table history_counts add primary key
  (organization_id, kind, span, start, source_id, route_id, destination_id, status, routed);

-- What was noted and is not folded in yet stays with the routed ones: the sum of counts and changes is that of the rows for both.
insert into history_counts as c (organization_id, kind, span, start, source_id, status, routed, total)
select u.organization_id, 'event', span.name, date_bin(span.width, u.hour, 'epoch'), u.source_id, u.status, counted.routed,
       sum(u.total * counted.sign)
from unrouted u
cross join (values ('hour', interval '1 hour'), ('source-day', interval '1 day')) as span(name, width)
cross join (values (false, 1), (true, -1)) as counted(routed, sign)
group by 1, 2, 3, 4, 5, 6, 7
on conflict (organization_id, kind, span, start, source_id, route_id, destination_id, status, routed) do update
  set total = c.total + excluded.total;

create or replace function note_late_change() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    insert into history_changes (id, organization_id, source_id, route_id, destination_id, status, routed, change)
    select r.id, r.organization_id, r.source_id, coalesce(r.route_id, ''), coalesce(r.destination_id, ''), r.status, coalesce(r.routed, true), -1
    from jsonb_to_record(to_jsonb(old)) as r(id text, organization_id text, source_id text, route_id text, destination_id text, status text, routed boolean)
    where exists (select from sources s where s.id = r.source_id);
  end if;
  if tg_op <> 'DELETE' then
    insert into history_changes (id, organization_id, source_id, route_id, destination_id, status, routed, change)
    select r.id, r.organization_id, r.source_id, coalesce(r.route_id, ''), coalesce(r.destination_id, ''), r.status, coalesce(r.routed, true), 1
    from jsonb_to_record(to_jsonb(new)) as r(id text, organization_id text, source_id text, route_id text, destination_id text, status text, routed boolean)
    where exists (select from sources s where s.id = r.source_id);
  end if;
  return null;
end $$;

-- The filter of a replay; null: it has none.
alter table event_replays add column event_routed boolean;

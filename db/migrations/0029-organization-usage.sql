-- What organizations use, by day (UTC): for limits, and for bills. A row is small and stays when its events are gone.
create table organization_usage (
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  day date not null,
  -- As API processes count what they store, added once a second. A process that is killed loses its last second, so these are never
  -- too high.
  accepted_events bigint not null default 0,
  accepted_bytes bigint not null default 0,
  -- Counted from the rows, each once, when they are settled (db/history/settle.ts): exact, and 20 to 30 minutes behind. They lack
  -- what was deleted before it was settled. `attempts` are those of deliveries that have ended, by the day of the delivery.
  events bigint not null default 0,
  payload_bytes bigint not null default 0,
  deliveries bigint not null default 0,
  attempts bigint not null default 0,
  -- Payloads that were deleted on request. Those that expire go with their day.
  removed_bytes bigint not null default 0,
  primary key (organization_id, day)
) with (fillfactor = 50);

-- Changes of settled rows wait until this has ended: the days below must be those of the counts.
lock table history_progress, history_counts, history_changes in share row exclusive mode;

-- Settled days before this release; how large their payloads were is not known.
insert into organization_usage (organization_id, day, events, deliveries)
select c.organization_id, (c.start at time zone 'UTC')::date,
       greatest(0, coalesce(sum(c.total) filter (where c.kind = 'event'), 0)),
       greatest(0, coalesce(sum(c.total) filter (where c.kind = 'delivery'), 0))
from history_counts c join organizations o on o.id = c.organization_id
where c.span = 'source-day'
group by 1, 2;

-- For the usage: the attempts of a delivery when it ends after it was settled (when it is opened again, they are taken back), and
-- what was made late, by a process whose clock is behind. What is deleted stays in the usage.
alter table history_changes add column attempts integer not null default 0, add column made boolean not null default false,
                            add column bytes integer not null default 0;

create or replace function note_late_change() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    insert into history_changes (id, organization_id, source_id, route_id, destination_id, status, routed, change, attempts)
    select r.id, r.organization_id, r.source_id, coalesce(r.route_id, ''), coalesce(r.destination_id, ''), r.status, coalesce(r.routed, true), -1,
           case when tg_op = 'DELETE' or r.status in ('pending', 'retrying', 'circuit_open') then 0 else -coalesce(r.attempt_count, 0) end
    from jsonb_to_record(to_jsonb(old)) as r(id text, organization_id text, source_id text, route_id text, destination_id text, status text, routed boolean, attempt_count integer)
    where exists (select from sources s where s.id = r.source_id);
  end if;
  if tg_op <> 'DELETE' then
    insert into history_changes (id, organization_id, source_id, route_id, destination_id, status, routed, change, attempts, made, bytes)
    select r.id, r.organization_id, r.source_id, coalesce(r.route_id, ''), coalesce(r.destination_id, ''), r.status, coalesce(r.routed, true), 1,
           case when r.status in ('pending', 'retrying', 'circuit_open') then 0 else coalesce(r.attempt_count, 0) end,
           tg_op = 'INSERT', case when tg_op = 'INSERT' then coalesce(r.payload_size, 0) else 0 end
    from jsonb_to_record(to_jsonb(new)) as r(id text, organization_id text, source_id text, route_id text, destination_id text, status text, routed boolean, attempt_count integer, payload_size integer)
    where exists (select from sources s where s.id = r.source_id);
  end if;
  return null;
end $$;

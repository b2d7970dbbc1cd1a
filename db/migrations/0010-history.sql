-- Exact counts of the event and delivery lists, whatever their filters, without counting millions of rows for each request.
--
-- Time is cut at `history_progress.settled_before`. What is newer is counted row by row; it is minutes of traffic. What is
-- older is *settled*: counted once, in the background (db/history/settle.ts), into `history_counts`. Settled rows still
-- change now and then (a retry after an outage, a cancel, a replay, a deletion): triggers add each such change to
-- `history_changes`, in the transaction that makes it, and settling folds these into the counts. So at any moment and in any
-- snapshot: matching rows = counts + changes + newer rows. Nothing is cached, nothing can be stale.
--
-- The hot path pays one comparison for each row it writes and stores nothing more: a row younger than the grace period is
-- never settled, so its changes need no note. Settling stays behind that period, and behind every transaction that began
-- inside it.

-- When an event or a delivery was made: the first ten characters after the prefix of its id are the 48-bit millisecond
-- timestamp in Crockford base32 (core/ids.ts).
create function id_time(id text) returns timestamptz language sql immutable parallel safe as $$
  select to_timestamp((
    ((strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(id, 5, 1)) - 1)::bigint << 45)
    | ((strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(id, 6, 1)) - 1)::bigint << 40)
    | ((strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(id, 7, 1)) - 1)::bigint << 35)
    | ((strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(id, 8, 1)) - 1)::bigint << 30)
    | ((strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(id, 9, 1)) - 1)::bigint << 25)
    | ((strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(id, 10, 1)) - 1)::bigint << 20)
    | ((strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(id, 11, 1)) - 1)::bigint << 15)
    | ((strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(id, 12, 1)) - 1)::bigint << 10)
    | ((strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(id, 13, 1)) - 1)::bigint << 5)
    | (strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(id, 14, 1)) - 1)::bigint
  )::float8 / 1000)
$$;

-- Events per source and status, deliveries per source, route, destination and status: `hour` and (deliveries only) `day`.
-- `source-day` tells them apart by source and status only, so that a list without filters adds up few rows however many
-- routes and destinations there are.
create table history_counts (
  organization_id text collate "C" not null,
  kind text not null check (kind in ('event', 'delivery')),
  span text not null check (span in ('hour', 'day', 'source-day')),
  start timestamptz(0) not null,
  source_id text collate "C" not null,
  route_id text collate "C" not null default '',
  destination_id text collate "C" not null default '',
  status text not null,
  total bigint not null,
  primary key (organization_id, kind, span, start, source_id, route_id, destination_id, status)
);
-- The delivery list of one destination and of one route, over months: written once a minute at most, never by the hot path.
create index history_counts_by_destination on history_counts (destination_id, span, start) where destination_id <> '';
create index history_counts_by_route on history_counts (route_id, span, start) where route_id <> '';

create table history_progress (
  settled_before timestamptz(3) not null,
  -- Buckets of 5 minutes before this hour have been merged into hours (db/history/merge-buckets.ts).
  merged_before timestamptz(0) not null
);
create unique index history_progress_one_row on history_progress ((true));
-- The oldest row there is; an empty database begins well behind the grace period.
insert into history_progress
select date_bin('1 hour', least(now() - interval '1 hour', id_time((select min(id) from events)), id_time((select min(id) from deliveries))),
                timestamptz 'epoch'),
       date_bin('1 hour', least(now() - interval '1 day', (select min(bucket) from ingest_stats where bucket > timestamptz 'epoch'),
                                (select min(bucket) from delivery_stats where bucket > timestamptz 'epoch')), timestamptz 'epoch');

-- What changed late, since it was last folded in: -1 for what a row was, +1 for what it is now.
create table history_changes (
  id text collate "C" not null,
  organization_id text collate "C" not null,
  source_id text collate "C" not null,
  route_id text collate "C" not null default '',
  destination_id text collate "C" not null default '',
  status text not null,
  change smallint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index history_changes_by_organization on history_changes (organization_id, id);

-- Rows of a deleted source are invisible and on their way out: nobody counts them.
create function note_late_change() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    insert into history_changes (id, organization_id, source_id, route_id, destination_id, status, change)
    select r.id, r.organization_id, r.source_id, coalesce(r.route_id, ''), coalesce(r.destination_id, ''), r.status, -1
    from jsonb_to_record(to_jsonb(old)) as r(id text, organization_id text, source_id text, route_id text, destination_id text, status text)
    where exists (select from sources s where s.id = r.source_id);
  end if;
  if tg_op <> 'DELETE' then
    insert into history_changes (id, organization_id, source_id, route_id, destination_id, status, change)
    select r.id, r.organization_id, r.source_id, coalesce(r.route_id, ''), coalesce(r.destination_id, ''), r.status, 1
    from jsonb_to_record(to_jsonb(new)) as r(id text, organization_id text, source_id text, route_id text, destination_id text, status text)
    where exists (select from sources s where s.id = r.source_id);
  end if;
  return null;
end $$;

-- A row that is young enough cannot be settled yet, so its changes need no note. The statements of the hot path say from which
-- id on rows are young (db/history/late.ts), because asking the clock for each row costs ten times as much; whoever does not
-- say notes every change, which is never wrong: what is not settled yet is forgotten when it is.
create trigger events_inserted_late after insert on events
  for each row when (new.id < 'evt_' || coalesce(nullif(current_setting('hookyard.late_before', true), ''), '~'))
  execute function note_late_change();
create trigger events_changed_late after update on events
  for each row when (old.status <> new.status and old.id < 'evt_' || coalesce(nullif(current_setting('hookyard.late_before', true), ''), '~'))
  execute function note_late_change();
create trigger events_deleted_late after delete on events
  for each row when (old.id < 'evt_' || coalesce(nullif(current_setting('hookyard.late_before', true), ''), '~'))
  execute function note_late_change();
create trigger deliveries_inserted_late after insert on deliveries
  for each row when (new.id < 'dlv_' || coalesce(nullif(current_setting('hookyard.late_before', true), ''), '~'))
  execute function note_late_change();
create trigger deliveries_changed_late after update on deliveries
  for each row when (old.status <> new.status and old.id < 'dlv_' || coalesce(nullif(current_setting('hookyard.late_before', true), ''), '~'))
  execute function note_late_change();
create trigger deliveries_deleted_late after delete on deliveries
  for each row when (old.id < 'dlv_' || coalesce(nullif(current_setting('hookyard.late_before', true), ''), '~'))
  execute function note_late_change();

-- Deliveries that ended as failures although their destination was never asked: refused by the schema of their route, or
-- ended by Hookyard itself (a transform with an error). They count in the statistics of their route, and not in the health
-- of a destination that has not seen them.
alter table delivery_stats add column unsent bigint not null default 0;

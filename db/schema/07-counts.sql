-- Counts: what ingest and deliveries add up to, for statistics, health, GET /api/metrics and the totals of lists.
-- `bucket` is the start of a 5-minute interval, merged by housekeeping into hours and days (db/history/figures/merge-buckets.ts); the
-- bucket 'epoch' (1970-01-01) holds the total of all time.

-- Events accepted per source and per route (`subject_id` is either). The primary key has the counts as well: a question for a month of
-- many routes reads tens of thousands of rows, which lie scattered, and so it reads the index alone. Housekeeping alone writes here.
create table ingest_stats (
  subject_id text collate "C" not null, bucket timestamptz(0) not null, events bigint not null default 0,
  filtered bigint not null default 0, last_event_at timestamptz(3),
  primary key (subject_id, bucket) include (events, filtered)
) with (fillfactor = 50);

-- The same as ingest counts it: in slots, so that groups of one source that are stored at the same time do not wait for each other's
-- row. Ended buckets are folded into ingest_stats (db/history/figures/fold-ingest.ts); until then they are only here, not in the
-- total of all time either.
create table ingest_counts (
  subject_id text collate "C" not null, bucket timestamptz(0) not null, slot smallint not null, events bigint not null default 0,
  filtered bigint not null default 0, last_event_at timestamptz(3),
  primary key (subject_id, bucket, slot)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- Finished deliveries per destination and route, written in the transaction that finishes them. `latency_*` count attempts that got a
-- response.
create table delivery_stats (
  destination_id text collate "C" not null, route_id text collate "C" not null, bucket timestamptz(0) not null,
  succeeded bigint not null default 0, failed bigint not null default 0,
  -- Deliveries that went to a failover destination instead: they count against the health of the destination that did not take them,
  -- but not in the totals of their route, where the delivery that took over counts.
  failed_over bigint not null default 0,
  -- Failures although the destination was never asked: refused by the schema of their route, or ended by Hookyard itself (a transform
  -- with an error). They count in the statistics of their route, and not in the health of a destination that has not seen them.
  unsent bigint not null default 0,
  latency_sum bigint not null default 0, latency_count bigint not null default 0, last_delivery_at timestamptz(3),
  last_success_at timestamptz(3), last_failure_at timestamptz(3),
  primary key (destination_id, route_id, bucket)
) with (fillfactor = 50);
create index delivery_stats_by_route on delivery_stats (route_id, bucket);

-- Latency histogram per destination for percentiles; `latency` is the upper edge of its class in ms (core/latency-classes.ts).
create table latency_stats (
  destination_id text collate "C" not null, bucket timestamptz(0) not null, latency integer not null, attempts bigint not null,
  primary key (destination_id, bucket, latency)
) with (fillfactor = 50);

-- What an organization asks for with GET /api/metrics: attempts by the status code of their answer, and deliveries by how they ended.
-- Written with what it counts, by the statements that change the deliveries (db/delivery/count-figures.ts). Without a foreign key: what
-- went to a destination that is deleted later stays. The key begins with what every question names, so an answer is one range of
-- the index, of as many rows as there were ways, codes and buckets.
create table delivery_figures (
  organization_id text collate "C" not null, bucket timestamptz(0) not null, destination_id text collate "C" not null,
  route_id text collate "C" not null, source_id text collate "C" not null,
  -- Of the answer: 100 to 599, and 600 for any other. 0: there was no answer. -1: deliveries that ended without an attempt.
  -- So at most 503 values, whatever a destination answers.
  status_code smallint not null,
  attempts bigint not null default 0,
  -- ms, of attempts with an answer
  latency_sum bigint not null default 0,
  delivered bigint not null default 0, failed bigint not null default 0, failed_over bigint not null default 0,
  not_sent bigint not null default 0, cancelled bigint not null default 0,
  primary key (organization_id, bucket, destination_id, route_id, source_id, status_code)
) with (fillfactor = 50);

-- `delivery_figures` and `latency_stats` have a row for each combination, code, class of latencies and bucket, so that statements can add
-- to them; a day of an organization with sixty combinations is tens of thousands. Ten minutes after its bucket began, housekeeping
-- packs such rows into the tables below (db/history/figures/pack-figures.ts): one row for each organization, or destination, and
-- bucket, in steps of 5 minutes, an hour and a day. A late count makes a new row, which is packed like any other. Readers add what is
-- not packed yet.

-- Combinations of destination, route and source, by a number. Without foreign keys: what went to a deleted destination stays.
create table figure_ways (
  id bigint generated by default as identity primary key,
  organization_id text collate "C" not null, destination_id text collate "C" not null, route_id text collate "C" not null,
  source_id text collate "C" not null,
  -- When figures of it were packed last: it is removed when the last of them are.
  used_on date not null,
  unique (organization_id, destination_id, route_id, source_id)
);

create table figure_history (
  organization_id text collate "C" not null,
  -- The length of the bucket: 300, 3600 or 86400 s.
  step integer not null,
  bucket timestamptz(0) not null,
  -- One after the other: the combination, the status code, and the sums of `delivery_figures` in the order of its columns.
  counts json not null,
  primary key (organization_id, step, bucket)
);

create table latency_history (
  destination_id text collate "C" not null, step integer not null, bucket timestamptz(0) not null,
  -- One after the other: a class of latencies, and its attempts.
  counts json not null,
  -- Of all classes: tells which destinations are the busiest.
  attempts bigint not null,
  primary key (destination_id, step, bucket)
);

-- Exact counts of the event and delivery lists, whatever their filters, without counting millions of rows for each request.
--
-- Time is cut at `history_progress.settled_before`. What is newer is counted row by row; it is minutes of traffic. What is
-- older is *settled*: counted once, in the background (db/history/lists/settle.ts), into `history_counts`. Settled rows still
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

-- Events per source, status and `routed` (whether a route took them), deliveries per source, route, destination and status: `hour` and
-- (deliveries only) `day`. `source-day` tells them apart by source, status and `routed` only, so that a list without filters adds
-- up few rows however many routes and destinations there are. Deliveries are always routed.
create table history_counts (
  organization_id text collate "C" not null, kind text not null check (kind in ('event', 'delivery')),
  span text not null check (span in ('hour', 'day', 'source-day')), start timestamptz(0) not null,
  source_id text collate "C" not null, route_id text collate "C" not null default '',
  destination_id text collate "C" not null default '', status text not null, routed boolean not null default true,
  total bigint not null,
  primary key (organization_id, kind, span, start, source_id, route_id, destination_id, status, routed)
);
-- The delivery list of one destination and of one route, over months: written once a minute at most, never by the hot path.
create index history_counts_by_destination on history_counts (destination_id, span, start) where destination_id <> '';
create index history_counts_by_route on history_counts (route_id, span, start) where route_id <> '';
-- Counts go with the rows of their day.
create index history_counts_by_start on history_counts (kind, start);
-- Hours with open deliveries: where those are that wait for their workflow, among millions that do not.
create index history_counts_open on history_counts (start)
  where kind = 'delivery' and span = 'hour' and status in ('pending', 'retrying', 'circuit_open') and total <> 0;

create table history_progress (
  settled_before timestamptz(3) not null,
  -- Buckets of 5 minutes before this hour have been merged into hours (db/history/figures/merge-buckets.ts).
  merged_before timestamptz(0) not null
);
create unique index history_progress_one_row on history_progress ((true));
-- An empty database begins well behind the grace period.
insert into history_progress
values (date_bin('1 hour', now() - interval '1 hour', 'epoch'), date_bin('1 hour', now() - interval '1 day', 'epoch'));

-- What changed late, since it was last folded in: -1 for what a row was, +1 for what it is now.
create table history_changes (
  id text collate "C" not null, organization_id text collate "C" not null, source_id text collate "C" not null,
  route_id text collate "C" not null default '', destination_id text collate "C" not null default '', status text not null,
  routed boolean not null default true, change smallint not null,
  -- For organization_usage: the attempts of a delivery when it ends after it was settled (when it is opened again, they are taken
  -- back), and what was made late, by a process whose clock is behind. What is deleted stays in the usage.
  attempts integer not null default 0,
  made boolean not null default false, bytes integer not null default 0
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index history_changes_by_organization on history_changes (organization_id, id);
-- They are folded into the counts a piece at a time, and dropped with the range of ids that is being counted.
create index history_changes_by_id on history_changes (id);

-- Rows of a deleted source are invisible and on their way out: nobody counts them. A replay routes an event, and changes its status
-- with it, so a change of the status is one of `routed` as well.
create function note_late_change() returns trigger language plpgsql as $$
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

-- A row that is young enough cannot be settled yet, so its changes need no note. The statements of the hot path say from which
-- id on rows are young (db/history/lists/late.ts), because asking the clock for each row costs ten times as much; whoever does not
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

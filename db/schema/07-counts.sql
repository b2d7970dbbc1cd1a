-- Counts: what store and record add up to, for statistics, health, figures (GET /api/metrics), usage and quotas; and the totals of lists.

-- The ledger. A statement that stores webhooks, records attempts or ends deliveries writes one entry for each key it touches, in its
-- own transaction. Entries are only inserted, and there is no index and no constraint, so statements never wait for each other here.
-- A few seconds later one process adds them to `rollups` (db/ledger/roll-up.ts). Readers add both, in one snapshot, so every committed
-- count is visible at once. Null means 0. Autovacuum keeps what readers scan short.
create table ledger_entries (
  organization_id text collate "C" not null, bucket timestamptz(0) not null,  -- bucket: the start of 5 minutes
  source_id text collate "C" not null, route_id text collate "C" not null default '', destination_id text collate "C" not null default '',
  -- Of the answer: 100 to 599, and 600 for any other; 0: no answer; -1: no attempt. So at most 503 values.
  code smallint not null default -1,
  -- Arrivals: events of the source with their bytes, in one entry of it, whatever its route; and events that the route took, or that its
  -- filter refused.
  events integer, bytes bigint, routed integer, filtered integer, last_event_at timestamptz(3),
  deliveries integer,  -- that were made, but for those that take over from another: `failed_over` counts these
  removed_bytes bigint,  -- of payloads that were deleted on request
  -- Attempts; the sum (ms) and histogram of latencies are of those with an answer: {{class, attempts}, ...} (core/latency-classes.ts).
  attempts integer, latency_sum bigint, latencies integer[],
  last_success_at timestamptz(3), last_failure_at timestamptz(3),
  -- How deliveries ended. not_sent: failed without an attempt.
  delivered integer, failed integer, failed_over integer, not_sent integer, cancelled integer
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- What the entries add up to, written by the roll-up alone. No foreign keys: counts of deleted destinations and routes stay.
create table rollups (
  organization_id text collate "C" not null,
  -- Length of the bucket in seconds. 300, and 3600 for what is older than a day. 86400: days (UTC) of the organization as a whole,
  -- without other ids, for its usage; kept as long as the organization. 0: all time; the bucket is then 1970-01-01, and the code 0 or -1.
  step integer not null, bucket timestamptz(0) not null,
  destination_id text collate "C" not null, source_id text collate "C" not null, route_id text collate "C" not null, code smallint not null,
  events bigint not null, bytes bigint not null, routed bigint not null, filtered bigint not null, last_event_at timestamptz(3),
  deliveries bigint not null, removed_bytes bigint not null, attempts bigint not null, latency_sum bigint not null, latencies integer[],
  last_success_at timestamptz(3), last_failure_at timestamptz(3),
  delivered bigint not null, failed bigint not null, failed_over bigint not null, not_sent bigint not null, cancelled bigint not null,
  primary key (organization_id, step, bucket, destination_id, source_id, route_id, code)
) with (fillfactor = 70);
create index rollups_by_destination on rollups (destination_id, step, bucket) where destination_id <> '';  -- health
create index rollups_by_route on rollups (route_id, step, bucket) where route_id <> '';  -- statistics of a route

-- Adds up two histograms.
create function add_latencies(one integer[], other integer[]) returns integer[] language sql immutable parallel safe as $$
  select array_agg(array[latency, attempts] order by latency) from (
    select histogram[i][1] as latency, sum(histogram[i][2])::integer as attempts
    from (select one || other as histogram) h, generate_subscripts(histogram, 1) i group by 1
  ) classes
$$;

-- Exact counts of the event and delivery lists, whatever their filters, without counting millions of rows for each request. Rows
-- newer than `history_progress.settled_before` are counted one by one: minutes of traffic. Older rows are *settled*: counted once, in
-- the background (db/history/lists/settle.ts), into `history_counts`. Settled rows still change now and then (a retry after an
-- outage, a cancel, a replay, a deletion): triggers add each such change to `history_changes`, in the transaction that makes it, and
-- settling folds these into the counts. So in any snapshot: matching rows = counts + changes + newer rows. Nothing is cached or can
-- be stale. Settling stays behind a grace period, and behind every transaction that began inside it. A row younger than that is never
-- settled, so its changes need no note: the hot path pays one comparison for each row it writes and stores nothing more.

-- When an event or a delivery was made: ten characters after the prefix of its id are the time in ms in Crockford base32
-- (core/ids.ts). One expression, so that PostgreSQL inlines it; the digit 0 is not in the alphabet, where strpos returns 0.
create function id_time(id text) returns timestamptz language sql immutable parallel safe as $$
  select to_timestamp((
    strpos('123456789abcdefghjkmnpqrstvwxyz', substr(id, 5, 1)) * 32^9 + strpos('123456789abcdefghjkmnpqrstvwxyz', substr(id, 6, 1)) * 32^8
    + strpos('123456789abcdefghjkmnpqrstvwxyz', substr(id, 7, 1)) * 32^7 + strpos('123456789abcdefghjkmnpqrstvwxyz', substr(id, 8, 1)) * 32^6
    + strpos('123456789abcdefghjkmnpqrstvwxyz', substr(id, 9, 1)) * 32^5 + strpos('123456789abcdefghjkmnpqrstvwxyz', substr(id, 10, 1)) * 32^4
    + strpos('123456789abcdefghjkmnpqrstvwxyz', substr(id, 11, 1)) * 32^3 + strpos('123456789abcdefghjkmnpqrstvwxyz', substr(id, 12, 1)) * 32^2
    + strpos('123456789abcdefghjkmnpqrstvwxyz', substr(id, 13, 1)) * 32 + strpos('123456789abcdefghjkmnpqrstvwxyz', substr(id, 14, 1))) / 1000)
$$;

-- Events per source, status and `routed` (whether a route took them), deliveries per source, route, destination and status: `hour`
-- and (deliveries only) `day`. `source-day` tells them apart by source, status and `routed` only, so that a list without filters adds
-- up few rows however many routes and destinations there are. Deliveries are always routed.
create table history_counts (
  organization_id text collate "C" not null, kind text not null check (kind in ('event', 'delivery')),
  span text not null check (span in ('hour', 'day', 'source-day')), start timestamptz(0) not null,
  source_id text collate "C" not null, route_id text collate "C" not null default '', total bigint not null,
  destination_id text collate "C" not null default '', status text not null, routed boolean not null default true,
  primary key (organization_id, kind, span, start, source_id, route_id, destination_id, status, routed)
);
-- The delivery list of one destination and of one route, over months: written once a minute at most, never by the hot path.
create index history_counts_by_destination on history_counts (destination_id, span, start) where destination_id <> '';
create index history_counts_by_route on history_counts (route_id, span, start) where route_id <> '';
create index history_counts_by_start on history_counts (kind, start);  -- counts go with the rows of their day
-- Hours with open deliveries: where those are that wait for their workflow, among millions that do not.
create index history_counts_open on history_counts (start)
  where kind = 'delivery' and span = 'hour' and status in ('pending', 'retrying', 'circuit_open') and total <> 0;

create table history_progress (
  settled_before timestamptz(3) not null
);
create unique index history_progress_one_row on history_progress ((true));
-- An empty database begins well behind the grace period.
insert into history_progress values (date_bin('1 hour', now() - interval '1 hour', 'epoch'));

-- What changed late, since it was last folded in: -1 for what a row was, +1 for what it is now.
create table history_changes (
  id text collate "C" not null, organization_id text collate "C" not null, source_id text collate "C" not null,
  route_id text collate "C" not null default '', destination_id text collate "C" not null default '', status text not null,
  routed boolean not null default true, change smallint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index history_changes_by_organization on history_changes (organization_id, id);
create index history_changes_by_id on history_changes (id);  -- folded in pieces, and dropped by the range of ids that is counted

-- Rows of a deleted source are invisible and on their way out: nobody counts them. A replay routes an event, and changes its status
-- with it, so a change of the status is one of `routed` as well.
create function note_late_change() returns trigger language plpgsql as $$
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

-- A row that is young enough cannot be settled yet, so its changes need no note. The statements of the hot path say from which
-- id on rows are young (db/history/lists/late.ts), because asking the clock for each row costs ten times as much; whoever does not
-- say notes every change, which is never wrong: what is not settled yet is forgotten when it is.
create trigger events_inserted_late after insert on events for each row when (new.id < 'evt_' ||
  coalesce(nullif(current_setting('hookyard.late_before', true), ''), '~')) execute function note_late_change();
create trigger events_changed_late after update on events for each row when (old.status <> new.status and old.id < 'evt_' ||
  coalesce(nullif(current_setting('hookyard.late_before', true), ''), '~')) execute function note_late_change();
create trigger events_deleted_late after delete on events for each row when (old.id < 'evt_' ||
  coalesce(nullif(current_setting('hookyard.late_before', true), ''), '~')) execute function note_late_change();
create trigger deliveries_inserted_late after insert on deliveries for each row when (new.id < 'dlv_' ||
  coalesce(nullif(current_setting('hookyard.late_before', true), ''), '~')) execute function note_late_change();
create trigger deliveries_changed_late after update on deliveries for each row when (old.status <> new.status and old.id < 'dlv_' ||
  coalesce(nullif(current_setting('hookyard.late_before', true), ''), '~')) execute function note_late_change();
create trigger deliveries_deleted_late after delete on deliveries for each row when (old.id < 'dlv_' ||
  coalesce(nullif(current_setting('hookyard.late_before', true), ''), '~')) execute function note_late_change();

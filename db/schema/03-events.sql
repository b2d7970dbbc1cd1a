-- Events, payloads, deliveries and attempts: partitioned by range of the id itself, one partition a day
-- (db/sql/partitions.ts). The primary key stays the id, a look-up by id touches one partition, and retention drops
-- whole partitions. No foreign keys: deletes of parents are rare and done explicitly, and every insert would pay for
-- the check.

create table events (
  id text collate "C" not null primary key,
  organization_id text collate "C" not null, source_id text collate "C" not null, status text not null,
  routed boolean not null, method text not null, query text not null, headers jsonb not null,
  path text not null default '',  -- what followed the source and its token in the address, as received; empty: nothing
  client_address text not null,  -- behind the operator's proxies
  payload_size integer not null, payload_hash text not null, deliveries_count integer not null,
  deliveries_succeeded integer not null default 0, deliveries_failed integer not null default 0,
  -- the span that recorded it (W3C Trace Context), parent of its attempts; null: the sender's is handed on
  traceparent text,
  received_at timestamptz(3) not null, validated_at timestamptz(3) not null, queued_at timestamptz(3) not null,
  -- The status of an event with failed deliveries, for an index. With an index of `status`, every update of a row would
  -- write all its indexes. This column stays null while an event is delivered, so such updates stay heap-only (HOT).
  undelivered_status text collate "C" generated always as (case when status in ('failed', 'partial') then status end) stored
) partition by range (id);
create index events_by_organization on events (organization_id, id);  -- the event list, newest first
create index events_by_source on events (source_id, id);  -- the same for one source
-- Mostly small. Lists of what failed, or was not routed, read these and nothing else (db/history/selection.ts).
create index events_undelivered on events (organization_id, undelivered_status, id) include (source_id)
  where undelivered_status is not null;
create index events_not_routed on events (organization_id, id) where not routed;

create table event_payloads (
  event_id text collate "C" not null primary key,
  -- whether the bytes are valid text (UTF-8 without NUL), so that search may decode them without failing
  is_text boolean not null,
  body bytea not null
) partition by range (event_id);

-- Search finds the text of a payload as people read it: as received, and with its JSON escapes replaced.
create function without_json_escapes(content text) returns text language plpgsql immutable strict parallel safe as $$
begin
  -- First, and from left to right: `\\n` is a backslash and an n. Each step makes the next one's backslashes begin
  -- escapes.
  content := replace(content, '\\', '\u005c');
  content := replace(replace(content, '\/', '/'), '\"', '"');
  content := replace(replace(replace(content, '\n', E'\n'), '\r', E'\r'), '\t', E'\t');
  content := replace(replace(content, '\b', E'\b'), '\f', E'\f');
  if strpos(content, '\u') = 0 then return content; end if;
  -- unistr raises an error for other escapes than four digits, NUL and half a pair: their backslash stays one.
  content := regexp_replace(content, '\\(?!u[0-9A-Fa-f]{4})', '\\u005c', 'g');
  -- A pair in the other form that unistr reads. Then what is left of halves stands alone: to look behind each would
  -- take time that grows with the square of their number.
  content := regexp_replace(content, '\\u([dD][89abAB][0-9A-Fa-f]{2})\\u([dD][c-fC-F])', '\\\1\\\2', 'g');
  content := regexp_replace(content, '\\(?=u0000|u[dD][89a-fA-F])', '\\u005c', 'g');
  return unistr(content);
end $$;

-- Whether a payload in UTF-8 matches a LIKE pattern, whatever its letter case. The result of convert_from has the
-- collation "C" of the encoding's name, in which only ASCII letters have a case; hence the explicit collation.
create function payload_matches(body bytea, pattern text) returns boolean
language plpgsql immutable strict parallel safe cost 1000 as $$
declare
  content text := convert_from(body, 'UTF8');
begin
  return content collate "default" ilike pattern
    or (strpos(content, '\') > 0 and without_json_escapes(content) collate "default" ilike pattern);
end $$;

create table deliveries (
  id text collate "C" not null primary key,
  organization_id text collate "C" not null, event_id text collate "C" not null, source_id text collate "C" not null,
  route_id text collate "C", destination_id text collate "C" not null, priority integer not null, status text not null,
  counted boolean not null,  -- whether this delivery counts in its event's totals: skipped and superseded ones do not
  attempt_count integer not null default 0, status_code integer, latency integer, error text,
  replay_of text collate "C",
  -- for logs, mails and Temporal: without what a transform, destination or store said (core/text/error-summary.ts)
  error_summary text,
  lane text,  -- in which the first attempt was made; null before that
  next_attempt_at timestamptz(3), delivered_at timestamptz(3), finished_at timestamptz(3), failover_of text collate "C",
  -- of a failover: the first destination, and why it got nothing
  original_destination_id text collate "C", failover_reason text,
  -- of a warehouse; found by destination and range of ids, without an index, so that updates stay heap-only
  batch_id text collate "C",
  -- Versions of the route and transform that made it, applied by its attempts also after a change or a deletion
  -- (earlier_versions). transform_version is null without a transform.
  route_version integer, transform_version integer,
  -- Of its ordering key: hash (core/delivery/ordering.ts), the beginning of the key for people, and its place there,
  -- from 1; null: its route has no ordering, or it had ended when it was made.
  order_hash bytea, order_key text, order_number bigint,
  undelivered_status text collate "C" generated always as (case when status in (
    'failed', 'failed_over', 'schema_failed', 'filter_failed', 'skipped', 'cancelled') then status end) stored
) partition by range (id);
-- No index holds a column that an attempt's result changes, so that the update of a delivery is heap-only (HOT).
-- the newest of an event, replayed very often; timeline; delete
create index deliveries_by_event on deliveries (event_id, id);
create index deliveries_by_organization on deliveries (organization_id, id);  -- delivery list
create index deliveries_undelivered on deliveries (organization_id, undelivered_status, id)
  include (source_id, route_id, destination_id) where undelivered_status is not null;
create index deliveries_by_destination on deliveries (destination_id, id);  -- list filter; cancel on delete
-- Events by route or destination (db/history/search.ts): deliveries made apart from their event (replays, failovers).
-- The first eight characters of an id's time are a slot of 1,024 ms: ids of different slots were made apart, or on the
-- edge between two. So these indexes are small, and an ordinary delivery costs the comparison only.
create index deliveries_apart_by_destination on deliveries (destination_id, event_id)
  where substr(id, 5, 8) <> substr(event_id, 5, 8);
create index deliveries_apart_by_route on deliveries (route_id, event_id)
  where substr(id, 5, 8) <> substr(event_id, 5, 8);

create table attempts (
  delivery_id text collate "C" not null, attempt_number integer not null, status text not null, status_code integer,
  error text, latency integer not null, started_at timestamptz(3) not null, completed_at timestamptz(3) not null,
  request_headers jsonb not null, response_headers jsonb, response_body text,
  -- Network exchange and configuration versions (db/hot-path/record-results.ts); null: from a summary, or no address to
  -- connect to.
  exchange text,
  primary key (delivery_id, attempt_number)
) partition by range (delivery_id);

-- The status of an event from its totals (docs/guide/api.md); the same rule for every statement that changes them.
create function event_status(total integer, succeeded integer, failed integer) returns text
language sql immutable parallel safe as $$
  select case when succeeded + failed < total then 'pending' when failed = 0 then 'delivered' when succeeded = 0
    then 'failed'
    else 'partial' end
$$;

-- Open deliveries that only their workflow continues: those that wait for a retry, and the few that left the outbox
-- (db/hot-path/claim.ts, db/delivery/delivery-commands.ts) or a circuit before their first attempt has a result. So
-- every open delivery is here, in `outbox`, `held_deliveries`, `ordered_deliveries` or in a file of a warehouse.
-- Triggers keep it, so that no statement can leave out a retry; the reconciliation removes what has ended all the same.
-- A delivery that succeeds at its first attempt costs three comparisons.
create table retrying_deliveries (
  delivery_id text collate "C" primary key, organization_id text collate "C" not null,
  destination_id text collate "C" not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000,
        vacuum_truncate = off);  -- as of the outbox: a plan made while the table had no pages reads all of it

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
  for each row when (old.status in ('retrying', 'circuit_open') or new.status = 'retrying'
    or old.next_attempt_at is not null)
  execute function note_retrying();
create trigger deliveries_retrying_deleted after delete on deliveries
  for each row when (old.status in ('pending', 'retrying', 'circuit_open')) execute function note_retrying();

-- Ingest idempotency: the primary key makes a repeat inside the window impossible, whatever the number of API
-- processes. No foreign key: keys go with the other rows of a deleted source, and not, by the million, in the request
-- that deletes it. Webhooks are accepted only by a configuration in which their source exists.
create table idempotency_keys (
  source_id text collate "C" not null, key_hash bytea not null, event_id text collate "C" not null,
  expires_at timestamptz(3) not null,
  primary key (source_id, key_hash)
);
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);

-- Whether an event is stored: the key of one that is gone is free (hot-path/store-events.ts). Volatile, so that each
-- call has a snapshot of its own: the caller may have waited for the commit that stored both the key and the event.
create function event_is_stored(event_id text) returns boolean language plpgsql volatile as $$
begin
  return exists (select from events where id = $1);
end $$;

-- Partitions are made and dropped by these functions, with the rights of the tables' owner, so that the role of the
-- services needs none to change the schema (docs/operate/postgresql.md). They can do nothing else: the table is one of
-- four, the rest of the name is a day. Names are qualified and the search path is fixed, so that no other object can
-- stand in for one of these.

-- The smallest id of a day: its first ten characters after the prefix are the milliseconds since 1970
-- (core/text/ids.ts).
create function id_floor(prefix text, day date) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select prefix || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + (ms >> shift & 31)::int, 1), ''
    order by shift desc)
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

-- Attaching a table locks the parent against other schema changes only; `create table ... partition of` would lock out
-- readers and writers (PostgreSQL manual, CREATE TABLE and ALTER TABLE).
create function make_partition(parent text, day date) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  prefix text := public.partitioned_prefix(parent);
  name text := parent || to_char(day, '_YYYYMMDD');
  -- Deliveries and events are updated once or twice after their insert: room on the page keeps those updates heap-only.
  storage text := case parent when 'events' then 'with (fillfactor = 85)' when 'deliveries'
    then 'with (fillfactor = 70)' else '' end;
begin
  perform pg_advisory_xact_lock(48657964);  -- by one process at a time (LOCKS of db/sql/rules.ts)
  execute format('create table if not exists public.%I (like public.%I including all) %s', name, parent, storage);
  if not exists (select from pg_inherits where inhrelid = format('public.%I', name)::regclass) then
    execute format('alter table public.%I attach partition public.%I for values from (%L) to (%L)',
                   parent, name, public.id_floor(prefix, day), public.id_floor(prefix, day + 1));
  end if;
end $$;

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

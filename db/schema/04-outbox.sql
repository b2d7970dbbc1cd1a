-- The outbox and who claims from it: relays, their leases, and how many attempts a destination gets at a time.

-- Deliveries whose first attempt has no result yet: what relays start workflows from. A row is inserted with its delivery and deleted
-- with the result of the first attempt; claiming writes nothing. Small, so it stays in memory. Autovacuum treats it as the relays do
-- (db/hot-path/outbox-vacuum.ts): where the role of the services may not vacuum it, as before PostgreSQL 17, it is the only one. In a
-- long outbox few pages have dead rows, and their index entries would stay, in front of those that are claimed next. To truncate the
-- file would block claims.
create table outbox (
  delivery_id text collate "C" not null, destination_id text collate "C" not null, organization_id text collate "C" not null,
  event_id text collate "C" not null, source_id text collate "C" not null, route_id text collate "C", priority integer not null,
  shard smallint not null,
  -- So that the workflow of a failover delivery can name the delivery it takes over from.
  failover_of text collate "C",
  -- Set on a delivery that comes back; it goes on from its recorded attempts. lost: Temporal does not know its workflow. ended: the
  -- workflow has ended by itself and this database does not know how (it was restored from a backup), so that its id may be used
  -- again. waiting: the workflow runs, and waits until the rate limit of its destination has a place for the next attempt.
  resume text check (resume in ('lost', 'ended', 'waiting')),
  -- Since when it waits here. The id says when the delivery was made, which may be long before: a circuit may have held it. Metrics
  -- show the age of the oldest; nothing else depends on it.
  entered_at timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000, vacuum_index_cleanup = on, vacuum_truncate = off);
-- The order of claiming: per destination, higher priority first, then oldest. Unique, so it serves deletes as well.
create unique index outbox_order on outbox (destination_id, priority desc, delivery_id);
-- Claims take turns by organization: they hop from one organization with work to the next, and inside it from destination to
-- destination, so that the number of one organization's destinations does not delay another (db/hot-path/claim.ts).
-- Without deduplication, a claim that meets a dead row can mark it, and the next one skips it (PostgreSQL manual, 65.1.4.3).
create index outbox_by_organization on outbox (organization_id, destination_id) with (deduplicate_items = off);
-- What waits, by bucket of 64 positions (core/positions.ts). With many relays each has few buckets, and claims from these alone; by
-- the other indexes it would read what waits for all relays.
create index outbox_by_bucket on outbox ((shard / 2), organization_id, destination_id, priority desc, delivery_id)
  with (deduplicate_items = off);

-- Which relay may claim which part of the outbox. A delivery has a position from 0 to 2047 by its id (core/positions.ts), and each
-- relay leases a range of positions, so that shares of any number of relays differ by one position at most.
create table relay_leases (
  -- Of one registration: a relay whose lease was taken away registers anew under another name.
  owner text primary key,
  expires_at timestamptz(3) not null,
  -- The session lock that its process holds (db/hot-path/relay-session.ts); null when it holds none.
  session text,
  -- Its process ends: it has no share any more.
  is_leaving boolean not null default false,
  positions int4multirange not null default '{}',
  -- What operators see: the lane that it takes, which changes while it runs in the lane `adaptive`, and its version.
  lane text, version text,
  -- Whatever relays take each other for: no position has two of them.
  constraint relay_leases_positions_apart exclude using gist (positions with &&)
);

-- Deliveries in flight at a relay that gave their positions up: the relay that has these now must not start them a second time.
-- They go with the lease of the relay that started them.
create table relay_leftovers (
  delivery_id text collate "C" primary key,
  owner text not null references relay_leases on delete cascade
);
create index relay_leftovers_by_owner on relay_leftovers (owner);

-- When the next delivery to a rate-limited destination may be sent: the one number of the generic cell rate algorithm
-- (ITU-T I.371) without burst. A row is made at the first use and removed when the limit is changed.
create table rate_limits (
  destination_id text collate "C" primary key references destinations (id) on delete cascade,
  next_at timestamptz not null
) with (fillfactor = 50);

-- Slots reserved under the old limit say nothing about the new one.
create function forget_rate_limit() returns trigger language plpgsql as $$
begin
  delete from rate_limits where destination_id = new.id;
  return null;
end $$;
create trigger destinations_rate_limit after update on destinations
  for each row when (old.rate_limit_per_minute is distinct from new.rate_limit_per_minute)
  execute function forget_rate_limit();

-- How many attempts each worker may have under way at a destination, as it said last. A row is written every few seconds at most,
-- and only while the destination is used. Nothing depends on it but what operators see.
create table destination_concurrency (
  destination_id text collate "C" not null references destinations (id) on delete cascade,
  worker text not null, places integer not null, seen_at timestamptz not null,
  primary key (destination_id, worker)
) with (fillfactor = 50);

-- The limit of all workers together at a destination that copes with fewer attempts than workers use it: they take turns at so many
-- places (core/shared-limit.ts). A row is written about once a second by each of them, and forgotten after a minute without use.
create table destination_shared_limits (
  destination_id text collate "C" primary key references destinations (id) on delete cascade,
  places integer not null,
  -- Counts decreases: what was sent before the last one says nothing.
  version integer not null,
  -- Outcomes of this window and the most places that were held in it, and outcomes since the limit has changed.
  answered integer not null,
  refused integer not null, most_held integer not null, outcomes integer not null,
  -- The part that is refused whatever is under way.
  usual double precision not null,
  -- What was too much; null: nothing is known of that.
  too_much integer,
  patience_ms integer not null, window_at timestamptz not null, changed_at timestamptz not null, seen_at timestamptz not null
) with (fillfactor = 50);

-- Destinations at which fewer attempts may be under way than there are workers (max_concurrency): workers take turns. A place is held
-- by one worker at a time, which says again and again that it goes on to hold it; a place that is not renewed is free.
create table destination_turns (
  destination_id text collate "C" not null references destinations (id) on delete cascade,
  -- From 0 to max_concurrency - 1.
  place integer not null,
  worker text not null, held_until timestamptz not null,
  primary key (destination_id, place)
) with (fillfactor = 50);

-- Workers that wait for a place, the first one first.
create table destination_turn_waits (
  destination_id text collate "C" not null references destinations (id) on delete cascade,
  worker text not null, since timestamptz not null, seen_at timestamptz not null,
  primary key (destination_id, worker)
) with (fillfactor = 50);

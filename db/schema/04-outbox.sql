-- The outbox and who claims from it: relays, their leases, and how many attempts a destination gets at a time.

-- Deliveries whose first attempt has no result: relays start workflows from these rows. Inserted with the delivery, deleted with the
-- result of the first attempt; claiming writes nothing. Small, so it stays in memory. Autovacuum does what the relays do
-- (db/hot-path/outbox-vacuum.ts): where the role of the services may not vacuum (before PostgreSQL 17), it is alone. Few pages of a long
-- outbox have dead rows, whose index entries would stay in front of those that are claimed next; hence vacuum_index_cleanup.
-- Truncating the file would block claims.
create table outbox (
  delivery_id text collate "C" not null, destination_id text collate "C" not null, organization_id text collate "C" not null,
  event_id text collate "C" not null, source_id text collate "C" not null, route_id text collate "C", priority integer not null,
  shard smallint not null,
  failover_of text collate "C",  -- so that the workflow of a failover delivery can name the delivery it takes over from
  -- Of a delivery that comes back and goes on from its recorded attempts. lost: Temporal does not know its workflow. ended: its
  -- workflow ended, this restored database does not know how, and its id may be used again. waiting: its workflow waits for a place
  -- in the rate limit of the destination.
  resume text check (resume in ('lost', 'ended', 'waiting')),
  entered_at timestamptz not null default now()  -- for the age of the oldest in metrics; the id is older where a circuit held it
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000, vacuum_index_cleanup = on, vacuum_truncate = off);
-- The order of claiming: per destination, higher priority first, then oldest. Unique, so it serves deletes as well.
create unique index outbox_order on outbox (destination_id, priority desc, delivery_id);
-- Claims hop by organization, then by destination, so that many destinations of one do not delay another (db/hot-path/claim.ts).
-- Without deduplication, a claim that meets a dead row can mark it, and the next one skips it (PostgreSQL manual, 65.1.4.3).
create index outbox_by_organization on outbox (organization_id, destination_id) with (deduplicate_items = off);
-- Buckets of 64 positions (core/positions.ts): one of many relays claims from its few buckets, without reading what waits for others.
create index outbox_by_bucket on outbox ((shard / 2), organization_id, destination_id, priority desc, delivery_id)
  with (deduplicate_items = off);

-- Which relay may claim which part of the outbox. A delivery has a position from 0 to 2047 by its id (core/positions.ts), and each
-- relay leases a range of positions, so that shares of any number of relays differ by one position at most.
create table relay_leases (
  owner text primary key,  -- a relay whose lease was taken away registers anew under another name
  expires_at timestamptz(3) not null,
  session text,  -- the session lock that its process holds (db/hot-path/relay-session.ts); null when it holds none
  is_leaving boolean not null default false,  -- its process ends: it has no share any more
  positions int4multirange not null default '{}',
  lane text, version text,  -- for operators; the lane changes while a relay runs in the lane `adaptive`
  constraint relay_leases_positions_apart exclude using gist (positions with &&)  -- no position has two relays
);

-- Deliveries in flight at a relay that gave up their positions: the next relay must not start them again. They go with its lease.
create table relay_leftovers (
  delivery_id text collate "C" primary key, owner text not null references relay_leases on delete cascade
);
create index relay_leftovers_by_owner on relay_leftovers (owner);

-- When the next delivery to a rate-limited destination may be sent: the one number of the generic cell rate algorithm
-- (ITU-T I.371) without burst. A row is made at the first use and removed when the limit is changed.
create table rate_limits (
  destination_id text collate "C" primary key references destinations (id) on delete cascade, next_at timestamptz not null
) with (fillfactor = 50);

-- Slots that were reserved under the old limit do not apply to the new one.
create function forget_rate_limit() returns trigger language plpgsql as $$
begin
  delete from rate_limits where destination_id = new.id;
  return null;
end $$;
create trigger destinations_rate_limit after update on destinations
  for each row when (old.rate_limit_per_minute is distinct from new.rate_limit_per_minute) execute function forget_rate_limit();

-- The outbox and who claims from it: workers, their shards, and how many attempts a destination gets at a time.

-- Deliveries whose first attempt has no result: relays start workflows from these rows. Inserted with the delivery,
-- deleted with the result of the first attempt; claiming writes nothing. Small, so it stays in memory. Truncating the
-- file would block claims.
create table outbox (
  delivery_id text collate "C" not null, destination_id text collate "C" not null,
  organization_id text collate "C" not null, event_id text collate "C" not null, source_id text collate "C" not null,
  route_id text collate "C", priority integer not null,
  shard smallint not null,  -- 0 to 63, by the id (core/text/ids.ts)
  failover_of text collate "C",  -- so that the workflow of a failover delivery can name the delivery it takes over from
  -- Of a delivery that comes back and goes on from its recorded attempts. lost: Temporal does not know its workflow.
  -- ended: its workflow ended, this restored database does not know how, and its id may be used again. waiting: its
  -- workflow waits for a place in the rate limit of the destination.
  resume text check (resume in ('lost', 'ended', 'waiting')),
  -- for the age of the oldest in metrics; the id is older where a circuit held it
  entered_at timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000, vacuum_index_cleanup = on,
        vacuum_truncate = off);
-- The order of claiming: claims hop by organization, then by destination, and read each one's most urgent and oldest
-- rows (db/hot-path/claim.ts). Unique, so it serves deletes as well.
create unique index outbox_order on outbox (organization_id, destination_id, priority desc, delivery_id);

-- Workers that live. Each raises its beat about once a second; others delete the row of one whose beat stands still
-- (db/hot-path/shards.ts).
create table workers (
  name text primary key, beat bigint not null default 0,
  is_leaving boolean not null default false,  -- it ends, and has no share any more
  -- Deliveries that it has in flight in shards that it gave up: the next owner must not start them again.
  handed_over text[] not null default '{}',
  -- For operators; the lane changes while a worker runs in the lane `adaptive`.
  seen_at timestamptz(3) not null default now(), lane text, version text
) with (fillfactor = 50);

-- Which worker claims which part of the outbox. There are always 64 rows.
create table shards (
  shard smallint primary key, owner text references workers on delete set null
) with (fillfactor = 50);
insert into shards select generate_series(0, 63);

-- When the next delivery to a rate-limited destination may be sent: the one number of the generic cell rate algorithm
-- (ITU-T I.371) without burst. A row is made at the first use and removed when the limit is changed.
create table rate_limits (
  destination_id text collate "C" primary key references destinations (id) on delete cascade,
  next_at timestamptz not null
) with (fillfactor = 50);

-- Slots that were reserved under the old limit do not apply to the new one.
create function forget_rate_limit() returns trigger language plpgsql as $$
begin
  delete from rate_limits where destination_id = new.id;
  return null;
end $$;
create trigger destinations_rate_limit after update on destinations
  for each row when (old.rate_limit_per_minute
    is distinct from new.rate_limit_per_minute) execute function forget_rate_limit();

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
  -- Whatever relays think of each other: no position has two of them.
  constraint relay_leases_positions_apart exclude using gist (positions with &&)
);

-- Deliveries in flight at a relay that gave their positions up: the relay that has these now must not start them a second time.
-- They go with the lease of the relay that started them.
create table relay_leftovers (
  delivery_id text collate "C" primary key,
  owner text not null references relay_leases on delete cascade
);
create index relay_leftovers_by_owner on relay_leftovers (owner);

-- `relay_shards` stays for relays of the release before, which lease whole shards of 32 positions each. Relays of this release hold
-- those they use there under one common name (db/hot-path/relay-leases.ts).

-- The outbox and who claims from it: workers, their shards, and how many attempts a destination gets at a time.

-- Deliveries whose first attempt has no result: relays start workflows from these rows. Inserted with the delivery,
-- deleted with the result of the first attempt; claiming writes nothing. Small, so it stays in memory. Truncating the
-- file would block claims.
create table outbox (
  delivery_id text collate "C" not null, destination_id text collate "C" not null,
  organization_id text collate "C" not null, event_id text collate "C" not null, source_id text collate "C" not null,
  route_id text collate "C", priority integer not null,
  shard smallint not null,  -- 0 to 63, by the id (core/text/ids.ts), or by the ordering key
  failover_of text collate "C",  -- so that the workflow of a failover delivery can name the delivery it takes over from
  -- Of a delivery that comes back and goes on from its recorded attempts. lost: Temporal does not know its workflow.
  -- ended: its workflow ended, this restored database does not know how, and its id may be used again. waiting: its
  -- workflow waits for a place in the rate limit of the destination.
  resume text check (resume in ('lost', 'ended', 'waiting')),
  order_hash bytea,  -- of the ordering key of the delivery; null: it has none
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

-- Ordering (docs/guide/deliver-in-order.md): of the deliveries with the same ordering key to a destination, one may be
-- attempted at a time, in the order of their commits. It is the head of its key. The head is where any open delivery
-- is: in `outbox`, `retrying_deliveries` or `held_deliveries`; those behind it wait here, and have no row there.
--
-- A row of `order_keys` is locked by whoever adds a delivery to its key or ends one, until the commit. So numbers
-- follow commits, whatever clocks and processes took part. Statements with several keys lock them in the order of the
-- primary key, before deliveries and events (lockKeys in db/sql/rules.ts). A key that is new is locked when it is
-- inserted, and deletions lock keys as they meet them: should two statements wait for each other, PostgreSQL aborts
-- one, and it is repeated. Deliveries without ordering cost a comparison for each trigger.

create table order_keys (
  destination_id text collate "C" not null, key_hash bytea not null, organization_id text collate "C" not null,
  key text not null, last_number bigint not null,
  waiting integer not null default 0,  -- its rows in ordered_deliveries
  -- Null: nothing of the key is open.
  head_id text collate "C", head_number bigint, head_since timestamptz(3),
  -- The head has failed, and blocks its key until then; null: it does not.
  hold_until timestamptz(3), blocked_at timestamptz(3),  -- both or none
  is_reported boolean not null default false,  -- whether the block was counted in an issue
  released_to bigint,  -- deliveries up to this number do not block the key when they fail
  last_at timestamptz(3) not null default now(),
  primary key (destination_id, key_hash)
) with (fillfactor = 70);
-- Of blocked keys only, which are few: when the block ends, when it becomes an issue, and whether a destination has
-- one.
create index order_keys_blocked on order_keys (hold_until) where hold_until is not null;
create index order_keys_unreported on order_keys (blocked_at) where hold_until is not null and not is_reported;
create index order_keys_blocked_by_destination on order_keys (destination_id) where hold_until is not null;

create table ordered_deliveries (
  destination_id text collate "C" not null, key_hash bytea not null, number bigint not null,
  delivery_id text collate "C" not null, organization_id text collate "C" not null,
  event_id text collate "C" not null, source_id text collate "C" not null, route_id text collate "C",
  priority integer not null, failover_of text collate "C",
  primary key (destination_id, key_hash, number)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000,
        vacuum_truncate = off);  -- as of the outbox

-- Gives a replay or a failover delivery its number; webhooks get theirs in db/hot-path/store-events.ts. Statements
-- inside see what was committed while the row of the key was waited for, because a volatile function has a snapshot for
-- each of its statements.
create function number_delivery() returns trigger language plpgsql volatile as $$
declare
  key_row order_keys;
begin
  if new.replay_of is not null then
    -- The replay of a failed delivery that blocks its key takes its place.
    update order_keys k
    set head_id = new.id, head_since = now(), hold_until = null, blocked_at = null, is_reported = false, last_at = now()
    where destination_id = new.destination_id and key_hash = new.order_hash and head_id = new.replay_of
      and hold_until is not null
    returning * into key_row;
    if found then
      new.order_number := key_row.head_number;
      return new;
    end if;
  end if;
  insert into order_keys as k (destination_id, key_hash, organization_id, key, last_number, head_id, head_number,
                               head_since)
  values (new.destination_id, new.order_hash, new.organization_id, new.order_key, 1, new.id, 1, now())
  on conflict (destination_id, key_hash) do update
    set last_number = k.last_number + 1, last_at = now(), head_id = coalesce(k.head_id, excluded.head_id),
        head_number = coalesce(k.head_number, k.last_number + 1), head_since = coalesce(k.head_since, now()),
        waiting = k.waiting + (k.head_id is not null)::int
  returning * into key_row;
  new.order_number := key_row.last_number;
  if key_row.head_id <> new.id then
    insert into ordered_deliveries (destination_id, key_hash, number, delivery_id, organization_id, event_id,
                                    source_id, route_id, priority, failover_of)
    values (new.destination_id, new.order_hash, new.order_number, new.id, new.organization_id, new.event_id,
            new.source_id, new.route_id, new.priority, new.failover_of);
  end if;
  return new;
end $$;
create trigger deliveries_number before insert on deliveries
  for each row when (new.order_hash is not null and new.order_number is null and new.status = 'pending')
  execute function number_delivery();

-- Rows without a shard are inserted only if the delivery is the head of its key; rows with a shard are not checked. All
-- deliveries of a key have the shard of that key, so that one relay owns them. A statement that inserts a delivery and
-- its row here makes sure that the delivery comes first.
create function admit_head() returns trigger language plpgsql volatile as $$
begin
  if not exists (select from order_keys where destination_id = new.destination_id and key_hash = new.order_hash
                   and head_id = new.delivery_id) then
    return null;
  end if;
  new.shard := get_byte(new.order_hash, 0) & 63;
  return new;
end $$;
create trigger outbox_head before insert on outbox
  for each row when (new.order_hash is not null and new.shard is null) execute function admit_head();

-- Makes the next delivery of a key its head. The caller has locked the row of the key.
create function advance_key(destination text, hash bytea, wakes boolean) returns text language plpgsql volatile as $$
declare
  next ordered_deliveries;
  taken integer := 0;
begin
  loop
    delete from ordered_deliveries w
    where w.destination_id = destination and w.key_hash = hash and w.number = (
      select number from ordered_deliveries where destination_id = destination and key_hash = hash
      order by number limit 1)
    returning * into next;
    taken := taken + found::int;
    -- One that has ended in the same statement, or whose partition was dropped, is passed over.
    exit when not found or exists (select from deliveries d
      where d.id = next.delivery_id and d.status in ('pending', 'retrying', 'circuit_open'));
  end loop;
  update order_keys set waiting = waiting - taken, head_id = next.delivery_id, head_number = next.number,
    hold_until = null, blocked_at = null, is_reported = false,
    head_since = case when next.delivery_id is not null then now() end
  where destination_id = destination and key_hash = hash;
  if next.delivery_id is not null then
    insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, route_id, priority, shard,
                        failover_of, order_hash)
    values (next.delivery_id, destination, next.organization_id, next.event_id, next.source_id, next.route_id,
            next.priority, get_byte(hash, 0) & 63, next.failover_of, hash)
    on conflict do nothing;
    if wakes then perform pg_notify('hookyard_outbox', ''); end if;
  end if;
  return next.delivery_id;
end $$;

-- A delivery that has used up its retries blocks its key, if it is the head.
create function block_key(destination text, hash bytea, delivery text, number bigint, seconds integer) returns void
language sql volatile as $$
  update order_keys k set hold_until = now() + make_interval(secs => seconds), blocked_at = now()
  where k.destination_id = destination and k.key_hash = hash and k.head_id = delivery
    and number > coalesce(k.released_to, 0)
$$;

-- Every kind of end: a result, a cancellation, a deletion, the retention.
create function end_in_order() returns trigger language plpgsql volatile as $$
declare
  key_row order_keys;
begin
  -- Mostly nothing waits. The condition reads only this row, so PostgreSQL checks it again after waiting for the lock.
  update order_keys set head_id = null, head_number = null, head_since = null
  where destination_id = old.destination_id and key_hash = old.order_hash and head_id = old.id and waiting = 0
    and hold_until is null;
  if found then return null; end if;
  select * into key_row from order_keys
  where destination_id = old.destination_id and key_hash = old.order_hash for update;
  if key_row.head_id is distinct from old.id then
    delete from ordered_deliveries
    where destination_id = old.destination_id and key_hash = old.order_hash and number = old.order_number
      and delivery_id = old.id;
    if found then
      update order_keys set waiting = waiting - 1
      where destination_id = old.destination_id and key_hash = old.order_hash;
    end if;
    return null;
  end if;
  if tg_op = 'UPDATE' and new.status = 'failed' and key_row.hold_until is not null then return null; end if;
  -- The relay that recorded the success of a first attempt looks for the next one by itself.
  perform advance_key(old.destination_id, old.order_hash, not (
    tg_op = 'UPDATE' and new.status = 'delivered' and new.attempt_count = 1 and new.lane = 'express'));
  return null;
end $$;
create trigger deliveries_end_in_order after update of status on deliveries
  for each row when (old.order_number is not null and old.status in ('pending', 'retrying', 'circuit_open')
    and new.status not in ('pending', 'retrying', 'circuit_open'))
  execute function end_in_order();
-- A failed delivery that blocks its key is deleted, or replaced by a replay that did not take its place: it cannot be
-- sent, or goes elsewhere, or its route orders nothing any more.
create function replaced_in_order() returns trigger language plpgsql volatile as $$
begin
  perform from order_keys
  where destination_id = old.destination_id and key_hash = old.order_hash and head_id = old.id
    and hold_until is not null for update;
  if found then perform advance_key(old.destination_id, old.order_hash, true); end if;
  return null;
end $$;
create trigger deliveries_replaced_in_order after update of counted on deliveries
  for each row when (old.order_number is not null and old.counted and not new.counted and new.status = 'failed')
  execute function replaced_in_order();
create trigger deliveries_deleted_in_order after delete on deliveries
  for each row when (old.order_number is not null and old.status in ('pending', 'retrying', 'circuit_open'))
  execute function end_in_order();
-- A failed one is no head, unless it blocks its key; the keys of others are not locked.
create trigger deliveries_failed_deleted_in_order after delete on deliveries
  for each row when (old.order_number is not null and old.status = 'failed')
  execute function replaced_in_order();

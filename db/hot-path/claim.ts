// Claiming: which deliveries a relay starts next, and which shards it owns.
import type { Queryable } from '../pool.ts';
import { circuitBlocks, FIRST_WAREHOUSE, hops, OPEN } from '../sql-rules.ts';

/** A delivery whose first attempt has no result yet, or whose next one waits for its turn under a rate limit. */
export interface OutboxRow {
  deliveryId: string;
  destinationId: string;
  organizationId: string;
  eventId: string;
  sourceId: string;
  routeId: string | null;
  priority: number;
  /** The delivery that this one replaces (failover). */
  failoverOf: string | null;
  /** The state of its route's circuit when that does not admit it; null: it may be attempted. */
  blockedBy: 'open' | 'half_open' | null;
  resume: Resume | null;
}

/**
 * `lost`, `ended`: the delivery's workflow is gone, and it continues from its recorded attempts; with `ended` the workflow's id
 * may be reused. `waiting`: its workflow runs, and waits for its turn.
 */
export type Resume = 'lost' | 'ended' | 'waiting';

// A claim writes nothing: the relay remembers what it has in flight, and a row leaves the outbox with the result of its first
// attempt. Two relays never read the same row, because a shard has one leaseholder, and the claim itself checks the lease: a
// relay that was paused for longer than its lease reads nothing. If a lease changes its owner after a claim, both start the same
// workflow id and the second start is refused; or, in the express lane, both make the attempt and one of them is recorded.
// The recursive part hops from destination to destination through the index (one probe each), so the cost follows the number of
// destinations with work, not the length of the backlog; and no destination can starve another. Callers go round-robin: each
// claim starts behind the last destination that the one before has examined, whether that had something to start or not. It ends
// when enough is found, so nothing is fetched needlessly and the next destination gets its turn.
// It ends before the warehouses, whose ids come after all others: their deliveries are written in files
// (db/warehouse/batches.ts).
// Deliveries in flight are a sub-select, which PostgreSQL hashes: comparing each row with the whole array took longer than the
// rest of the statement.
// The circuits are few rows, looked up by key for each claimed row; only primary deliveries are subject to one.
// The destinations of suspended organizations are passed over, each by a look at one of its rows.
// A claim that found less than its limit has a row without a delivery, which says where it stopped: null when no destination is
// left. PostgreSQL reads a CTE only as far as needed, so a full claim has not gone further.
const CLAIM = `
with recursive ${hops('destination', 'outbox', 'destination_id', { above: '$1', below: FIRST_WAREHOUSE })}, examined as materialized (
  select id from destination where id is not null limit $3
), found as materialized (
  select o.* from examined d
  cross join lateral (
    select delivery_id as "deliveryId", destination_id as "destinationId", organization_id as "organizationId",
           event_id as "eventId", source_id as "sourceId", route_id as "routeId", priority,
           failover_of as "failoverOf", resume,
           case when failover_of is null then
             (select c.state from circuits c
              where c.route_id = outbox.route_id and ${circuitBlocks('c', 'outbox.delivery_id')})
           end as "blockedBy"
    from outbox
    where destination_id = d.id and delivery_id not in (select unnest($5::text[]))
      and shard in (select shard from relay_shards where owner = $4 and expires_at > now())
    order by priority desc, delivery_id
    limit $6
  ) o
  where d.id <> all($2::text[])
    and (cardinality($8::text[]) = 0 or (select x.organization_id from outbox x where x.destination_id = d.id limit 1) <> all($8::text[]))
  limit $7
)
select * from found
union all
select null, case when count(*) = $3 then max(id) end, null, null, null, null, null, null, null, null
from examined having (select count(*) from found) < $7`;

/** Result of a claim. */
export interface Claimed {
  rows: OutboxRow[];
  /** The last examined destination, behind which the next claim continues; '' when none is left behind it. */
  examinedTo: string;
}

/**
 * Reads deliveries to start, per destination the most urgent and oldest first.
 * @param claim.afterDestination destinations sort after this id ('' = from the first)
 * @param claim.fullDestinations destinations at their in-flight limit
 * @param claim.maxDestinations how many destinations to examine, full ones included
 * @param claim.owner the relay, whose shards are claimed from
 * @param claim.inFlight deliveries this relay has started and whose result is not recorded yet
 * @param claim.perDestination most rows of one destination
 * @param claim.most most rows in all, at least one
 * @param claim.suspended organizations whose deliveries wait
 */
export async function claimDeliveries(
  db: Queryable,
  claim: {
    afterDestination: string;
    fullDestinations: string[];
    maxDestinations: number;
    owner: string;
    inFlight: string[];
    perDestination: number;
    most: number;
    suspended: string[];
  },
): Promise<Claimed> {
  const { rows: found } = await db.query<OutboxRow | Stopped>({
    name: 'claim',
    text: CLAIM,
    values: [
      claim.afterDestination,
      claim.fullDestinations,
      claim.maxDestinations,
      claim.owner,
      claim.inFlight,
      claim.perDestination,
      claim.most,
      claim.suspended,
    ],
  });
  const stopped = found.find(isStopped);
  const rows = found.filter((row) => !isStopped(row));
  if (stopped) return { rows, examinedTo: stopped.destinationId ?? '' };
  return { rows, examinedTo: rows.reduce((last, { destinationId: id }) => (id > last ? id : last), '') };
}

/** Where a claim stopped looking. */
interface Stopped {
  deliveryId: null;
  destinationId: string | null;
}

const isStopped = (row: OutboxRow | Stopped): row is Stopped => row.deliveryId === null;

// The workflow may have reached its next attempt meanwhile, and wait for its turn: then its signal depends on the row.
const REMOVE = `
delete from outbox o where destination_id = $1 and priority = $2 and delivery_id = $3
  and (resume is distinct from 'waiting'
       or not exists (select from deliveries d where d.id = o.delivery_id and d.status in ${OPEN}))`;

/** Removes a delivery from the outbox whose workflow has taken over. */
export async function removeQueued(db: Queryable, row: OutboxRow): Promise<void> {
  await db.query(REMOVE, [row.destinationId, row.priority, row.deliveryId]);
}

// Options: clean small indexes too, which PostgreSQL skips when few pages have dead rows; do not truncate the file, which would
// block claims; skip when another process vacuums (PostgreSQL manual, VACUUM).
const VACUUM = 'vacuum (index_cleanup on, truncate off, process_toast off, skip_locked) outbox';

/** Vacuums the dead rows of the outbox and its index. Not inside a transaction. */
export async function vacuumOutbox(db: Queryable): Promise<void> {
  await db.query(VACUUM);
}

/** How long a lease lasts, in ms. Another relay takes a dead one's shards after at most this time. */
export const LEASE_MS = 6000;

// One statement renews, gives up and takes shards. A relay's fair share is 64 divided by the relays seen lately.
// `for update skip locked` keeps two relays that renew at the same instant from waiting for each other or taking the same shard;
// skipped rows are retried at the next renewal.
// When the clock of the database is set back, leases end much too late. Those of other relays are cut to the usual length: a live
// relay renews before that, and a dead relay's shards do not wait for the clock.
// A relay that could not renew for a while takes no expired leases: the same outage may have kept their owner from renewing, and
// the owner may remember unrecorded attempts. A live owner renews first.
const RENEW = `
with me as (
  insert into relays (owner, seen_at) values ($1, now())
  on conflict (owner) do update set seen_at = excluded.seen_at
), others as (
  select count(*) as live from relays
  where owner <> $1 and seen_at > now() - make_interval(secs => $2) and seen_at < now() + make_interval(secs => $2)
), share as (
  select ceil(64.0 / (1 + live))::int as most from others
), cut as (
  update relay_shards s set expires_at = now() + make_interval(secs => $2)
  from (select shard from relay_shards where owner <> $1 and expires_at > now() + 2 * make_interval(secs => $2) for update skip locked) a
  where s.shard = a.shard
), wanted as (
  select shard from relay_shards, share
  where owner = $1 or owner is null or (expires_at <= now() and $3)
  order by (owner = $1) desc nulls last, shard
  limit (select most from share)
  for update of relay_shards skip locked
), released as (
  update relay_shards set owner = null, expires_at = '-infinity'
  where owner = $1 and shard not in (select shard from wanted)
)
update relay_shards s set owner = $1, expires_at = now() + make_interval(secs => $2)
from wanted w where w.shard = s.shard
returning s.shard`;

/**
 * Renews a relay's leases and takes its fair share of free ones; the result is every shard it holds for LEASE_MS from now.
 * @param mayTakeOver whether expired leases count as free
 */
export async function renewShards(db: Queryable, owner: string, mayTakeOver = true): Promise<number[]> {
  const { rows } = await db.query<{ shard: number }>(RENEW, [owner, LEASE_MS / 1000, mayTakeOver]);
  return rows.map((row) => row.shard);
}

/** Gives up all leases of a relay that stops, so that others need not wait for them to expire. */
export async function releaseShards(db: Queryable, owner: string): Promise<void> {
  await db.query(
    `with gone as (delete from relays where owner = $1 or seen_at < now() - interval '1 day')
     update relay_shards set owner = null, expires_at = '-infinity' where owner = $1`,
    [owner],
  );
}

/** Which of these rows are still in the outbox, and how they continue. */
export async function stillQueued(db: Queryable, rows: OutboxRow[]): Promise<Map<string, Resume | null>> {
  const found = await db.query<{ delivery_id: string; resume: Resume | null }>(
    `select o.delivery_id, o.resume
     from unnest($1::text[], $2::int[], $3::text[]) as wanted(destination_id, priority, delivery_id)
     join outbox o using (destination_id, priority, delivery_id)`,
    [rows.map((row) => row.destinationId), rows.map((row) => row.priority), rows.map((row) => row.deliveryId)],
  );
  return new Map(found.rows.map((row) => [row.delivery_id, row.resume]));
}

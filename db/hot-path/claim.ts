// Claiming: which deliveries a relay starts next, and which shards are its own.
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
  /** The delivery this one takes over from. */
  failoverOf: string | null;
  /** The state of its route's circuit when that does not admit it; null: it may be attempted. */
  blockedBy: 'open' | 'half_open' | null;
  resume: Resume | null;
}

/**
 * `lost`, `ended`: the delivery's workflow is gone, and it goes on from its recorded attempts; with `ended` the workflow's id may be
 * used again. `waiting`: its workflow runs, and waits for its turn.
 */
export type Resume = 'lost' | 'ended' | 'waiting';

// A claim writes nothing: the relay remembers what it has in flight, and a row leaves the outbox with the result of
// its first attempt. Two relays never read the same row, because a shard has one leaseholder, and the claim itself asks
// whose lease it is: a relay that was stopped for longer than its lease reads nothing. Should a lease change hands after a
// claim, both start the same workflow id and the second is told that it exists already; or, in the express lane, both make
// the attempt and one of them is recorded.
// The recursive part hops from destination to destination through the index (one probe each), so the cost follows the
// number of destinations with work, not the length of the backlog; and no destination can hide another. Callers go round:
// each claim begins behind the last destination that the one before has examined, whether that had something to start or
// not. It ends when as much is found as may be started, so nothing is fetched in vain and whoever comes next has its turn.
// It ends before the warehouses, whose ids come after all others: what waits for these is taken in files (db/warehouse/batches.ts).
// What is in flight is a sub-select, which PostgreSQL hashes: comparing each row with the whole array took longer than all else.
// The circuits are few rows, looked up by key for each claimed row; only primary deliveries have one to obey.
// The row without a delivery, which a claim has when it did not find as much as it may, tells where it stopped looking: null
// when no destination is left. PostgreSQL reads a CTE as far as it is asked to, so a claim that is full has not walked further.
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
  limit $7
)
select * from found
union all
select null, case when count(*) = $3 then max(id) end, null, null, null, null, null, null, null, null
from examined having (select count(*) from found) < $7`;

/** What a claim has found. */
export interface Claimed {
  rows: OutboxRow[];
  /** The last destination that was examined, behind which the next claim goes on; '' when none is left behind it. */
  examinedTo: string;
}

/**
 * Reads deliveries to start, per destination the most urgent and oldest first.
 * @param claim.afterDestination destinations sort after this id ('' = from the first)
 * @param claim.fullDestinations destinations that already have as much in flight as they may
 * @param claim.maxDestinations how many destinations to look at, full ones too
 * @param claim.owner the relay, whose shards are claimed from
 * @param claim.inFlight deliveries this relay has started and whose result is not recorded yet
 * @param claim.perDestination most rows of one destination
 * @param claim.most most rows in all, at least one
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

// That workflow may have come to its next attempt meanwhile, and wait for its turn: then the row is what it will be told by.
const REMOVE = `
delete from outbox o where destination_id = $1 and priority = $2 and delivery_id = $3
  and (resume is distinct from 'waiting'
       or not exists (select from deliveries d where d.id = o.delivery_id and d.status in ${OPEN}))`;

/** Removes a delivery from the outbox whose workflow has taken over. */
export async function removeQueued(db: Queryable, row: OutboxRow): Promise<void> {
  await db.query(REMOVE, [row.destinationId, row.priority, row.deliveryId]);
}

// Small indexes too are cleaned, which PostgreSQL skips when few pages are concerned; the file is not cut, for which claims
// would have to stand still; and it goes without when another process is at it (PostgreSQL manual, VACUUM).
const VACUUM = 'vacuum (index_cleanup on, truncate off, process_toast off, skip_locked) outbox';

/** Removes from the index of the outbox what has left the outbox. Not inside a transaction. */
export async function vacuumOutbox(db: Queryable): Promise<void> {
  await db.query(VACUUM);
}

/** How long a lease lasts, in ms. Another relay takes a dead one's shards after at most this time. */
export const LEASE_MS = 6000;

// One statement renews, gives up and takes shards. A relay's fair share is 64 divided by the relays seen lately.
// `for update skip locked` keeps two relays that renew at the same instant from waiting for each other or taking the
// same shard; whatever is skipped is tried again at the next renewal.
// When the clock of the database was set back, leases end long after anyone could have taken them. Those of others are cut
// to the usual length: who is alive has renewed them before that, and a dead relay's shards do not wait for the clock.
// A relay that could not renew for a while takes no lease that another has let run out: that one may have been kept from it by the
// same outage, and remember attempts that it could not record. Who is alive renews first.
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
 * @param mayTakeOver whether leases that have run out count as free
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

/** Which of these rows are still in the outbox, and how they go on by now. */
export async function stillQueued(db: Queryable, rows: OutboxRow[]): Promise<Map<string, Resume | null>> {
  const found = await db.query<{ delivery_id: string; resume: Resume | null }>(
    `select o.delivery_id, o.resume
     from unnest($1::text[], $2::int[], $3::text[]) as wanted(destination_id, priority, delivery_id)
     join outbox o using (destination_id, priority, delivery_id)`,
    [rows.map((row) => row.destinationId), rows.map((row) => row.priority), rows.map((row) => row.deliveryId)],
  );
  return new Map(found.rows.map((row) => [row.delivery_id, row.resume]));
}

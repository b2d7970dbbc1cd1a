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
// The recursive parts hop from organization to organization, and inside each from destination to destination (one probe each), so
// the cost follows the number of destinations with work that are examined, not the length of the backlog; and neither can starve
// another. Callers go round-robin: each claim starts behind the last organization that the one before has examined, and inside an
// organization behind its last destination, whether that had something to start or not. A claim ends when enough is found, so
// nothing is fetched needlessly and the next one gets its turn.
// It ends before the warehouses, whose ids come after all others: their deliveries are written in files
// (db/warehouse/batches.ts).
// Deliveries in flight are a sub-select, which PostgreSQL hashes: comparing each row with the whole array took longer than the
// rest of the statement.
// The circuits are few rows, looked up by key for each claimed row; only primary deliveries are subject to one.
// An organization whose limit of rows was not reached has a last row without a delivery, which says where it was left: null when
// no destination is left in it. PostgreSQL reads a CTE only as far as needed, so a full claim has not gone further.
const NEXT_DESTINATION = (after: string) => `(
        select n.destination_id from outbox n
        where n.organization_id = v.id and n.destination_id > ${after} and n.destination_id < ${FIRST_WAREHOUSE}
        order by n.organization_id, n.destination_id limit 1)`;

const CLAIM = `
with recursive ${hops('organization', 'outbox', 'organization_id', { above: '$1' })}, visited as materialized (
  select id from organization where id is not null and id <> all($2::text[]) limit $3
)
select o.* from visited v
left join lateral (
  select k.after, k.most from unnest($4::text[], $5::text[], $6::int[]) as k(id, after, most) where k.id = v.id limit 1
) known on true
cross join lateral (
  with recursive destination(id, number) as (
    select ${NEXT_DESTINATION("coalesce(known.after, '')")}, 1
    union all
    select ${NEXT_DESTINATION('last.id')}, last.number + 1
    from destination last where last.id is not null and last.number < $9
  )
  select found.* from destination d cross join lateral (
    (select delivery_id as "deliveryId", destination_id as "destinationId", organization_id as "organizationId",
            event_id as "eventId", source_id as "sourceId", route_id as "routeId", priority,
            failover_of as "failoverOf", resume,
            case when failover_of is null then
              (select c.state from circuits c
               where c.route_id = outbox.route_id and ${circuitBlocks('c', 'outbox.delivery_id')})
            end as "blockedBy"
     from outbox
     where destination_id = d.id and d.id <> all($8::text[]) and delivery_id not in (select unnest($11::text[]))
       and shard in (select shard from relay_shards where owner = $10 and expires_at > now())
     order by priority desc, delivery_id
     limit least($12, (coalesce(known.most, $7) + 1) / 2))
    union all
    select null, d.id, v.id, null, null, null, null, null, null, null where d.id is null or d.number = $9
  ) found
  limit coalesce(known.most, $7)
) o
limit $13`;

/** Where claims of an organization go on, and how much it may have. */
export interface OrganizationTurn {
  id: string;
  /** Destinations sort after this id ('' = from the first). */
  after: string;
  /** Most rows, at least one. */
  most: number;
}

/** Result of a claim. */
export interface Claimed {
  /** By organization, and in each by destination, the most urgent and oldest first. */
  rows: OutboxRow[];
  /** Of each examined organization: the last examined destination; '' when none is left behind it. In their order. */
  examinedTo: Map<string, string>;
  /** Whether it ended because it had enough. */
  isFull: boolean;
}

/**
 * Reads deliveries to start.
 * @param claim.afterOrganization organizations sort after this id ('' = from the first)
 * @param claim.skippedOrganizations those at their limit, and suspended ones
 * @param claim.maxOrganizations how many to examine, without skipped ones
 * @param claim.turns what is known of organizations
 * @param claim.mostOfOthers most rows of each other organization, at least one
 * @param claim.fullDestinations destinations at their in-flight limit
 * @param claim.maxDestinations how many destinations of an organization to examine, full ones included
 * @param claim.owner the relay, whose shards are claimed from
 * @param claim.inFlight deliveries this relay has started and whose result is not recorded yet
 * @param claim.perDestination most rows of one destination; it gets at most half of its organization's
 * @param claim.most most rows in all, at least one
 */
export async function claimDeliveries(
  db: Queryable,
  claim: {
    afterOrganization: string;
    skippedOrganizations: string[];
    maxOrganizations: number;
    turns: OrganizationTurn[];
    mostOfOthers: number;
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
      claim.afterOrganization,
      claim.skippedOrganizations,
      claim.maxOrganizations,
      claim.turns.map(({ id }) => id),
      claim.turns.map(({ after }) => after),
      claim.turns.map(({ most }) => most),
      claim.mostOfOthers,
      claim.fullDestinations,
      claim.maxDestinations,
      claim.owner,
      claim.inFlight,
      claim.perDestination,
      // Each organization may have a row that says where it was left.
      claim.most + claim.maxOrganizations,
    ],
  });
  return upTo(found, claim.most);
}

function upTo(found: (OutboxRow | Stopped)[], most: number): Claimed {
  const rows: OutboxRow[] = [];
  const examinedTo = new Map<string, string>();
  for (const row of found) {
    if (isStopped(row)) examinedTo.set(row.organizationId, row.destinationId ?? '');
    else if (rows.length === most) break;
    else {
      rows.push(row);
      examinedTo.set(row.organizationId, row.destinationId);
    }
  }
  return { rows, examinedTo, isFull: rows.length === most };
}

/** Where a claim stopped looking in an organization. */
interface Stopped {
  deliveryId: null;
  organizationId: string;
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

// Claiming: which deliveries a relay starts next.
import { ALPHABET } from '../../core/ids.ts';
import { bucketsOf, type Positions, sizeOf, writePositions } from '../../core/positions.ts';
import type { Queryable } from '../connections/pool.ts';
import { circuitBlocks, FIRST_WAREHOUSE, OPEN, pauseBlocks } from '../sql-rules.ts';

/**
 * A delivery whose first attempt has no result yet; or has one, but Temporal has no workflow for what is left (lane `express`); or
 * whose next attempt waits: for a slot of a rate limit, a place at its destination, its organization's turn or resumption.
 */
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
  /** The state of its route's circuit when that does not admit it, or a pause; null: it may be attempted. */
  blockedBy: 'open' | 'half_open' | 'paused' | null;
  resume: Resume | null;
}

/**
 * `lost`, `ended`: the delivery's workflow is gone, and it continues from its recorded attempts; with `ended` the workflow's id
 * may be reused. `waiting`: its workflow runs, and waits for its turn.
 */
export type Resume = 'lost' | 'ended' | 'waiting';

// A claim writes nothing: the relay remembers what it has in flight, and a row leaves the outbox with the result of its first
// attempt. Two relays never read the same row, because a position has one leaseholder, and the claim itself checks the lease: a
// relay that was paused for longer than its lease reads nothing. What a relay had in flight when it gave positions up is left to it
// (relay_leftovers). If a lease is taken away after a claim, both start the same workflow id and the second start is refused; or, in
// the express lane, both make the attempt and one of them is recorded.
// The recursive parts hop from organization to organization, and inside each from destination to destination (one probe each), so
// the cost follows the number of destinations with work that are examined, not the length of the backlog; and neither can starve
// another. Callers go round-robin: each claim starts behind the last organization that the one before has examined, and inside an
// organization behind its last destination, whether that had something to start or not. A claim ends when enough is found, so
// nothing is fetched needlessly and the next one gets its turn.
// It ends before the warehouses, whose ids come after all others: their deliveries are written in files
// (db/warehouse/batches.ts).
// Deliveries in flight are a sub-select, which PostgreSQL hashes: comparing each row with the whole array took longer than the
// rest of the statement.
// The circuits are few rows, looked up by key: for each destination, which may be paused, and for the route of each claimed row; only
// primary deliveries are subject to its state, and all to its pause.
// An organization whose limit of rows was not reached has a last row without a delivery, which says where it was left: null when
// no destination is left in it. PostgreSQL reads a CTE only as far as needed, so a full claim has not gone further.
//
// There are two forms of it, which find the same rows. One looks at everything that waits, and steps over rows of other relays:
// right for few relays, as each has a large part of every destination. The other looks at some buckets only, one probe each, and
// their rows are merged in order: right for many relays, each of which has few buckets. So of the rows that a claim reads at least a
// tenth is its own, unless there are more than some hundred relays.
// From a bucket comes at most twice its part of what may be taken: otherwise few positions of a bucket would have all of it read for
// rows that others are more urgent than. What a bucket has beyond that waits for the next claim.
interface Form {
  /** An expression: the first value of a column of the outbox `n` in rows for which the condition is true. */
  first: (column: string, where: string) => string;
  /** Rows of the outbox of the organization `v` and the destination `d`, the first in the order of claiming. */
  rows: (where: string) => string;
}

const FROM_ALL: Form = {
  first: (column, where) => {
    const order = column === 'organization_id' ? column : 'organization_id, n.destination_id';
    return `(select n.${column} from outbox n where ${where} order by n.${order} limit 1)`;
  },
  rows: (where) => `select * from outbox n where n.destination_id = d.id and ${where}`,
};

/** Most buckets of a claim from buckets. */
const MOST_BUCKETS = 4;
const EACH_BUCKET = Array.from({ length: MOST_BUCKETS }, (_, index) => `($15::int[])[${index + 1}]`);
const MOST_OF_DESTINATION = 'least($12, (coalesce(known.most, $7) + 1) / 2)';
// The migration of the index has the same expression.
const inBucket = (bucket: string) => `${bucket} is not null and (n.shard / 2) = ${bucket}`;

const FROM_BUCKETS: Form = {
  first: (column, where) =>
    `least(${EACH_BUCKET.map((bucket) => FROM_ALL.first(column, `${inBucket(bucket)} and ${where}`)).join(',\n')})`,
  rows: (where) =>
    EACH_BUCKET.map(
      (bucket, index) => `(select * from outbox n
       where ${inBucket(bucket)} and n.organization_id = v.id and n.destination_id = d.id and ${where}
       order by n.priority desc, n.delivery_id limit ceil(${MOST_OF_DESTINATION} * ($16::float8[])[${index + 1}]))`,
    ).join('\nunion all\n'),
};

// As `positionOf` (core/positions.ts).
const POSITION = `n.shard * 32 + greatest(strpos('${ALPHABET}', substr(n.delivery_id, 28, 1)) - 1, 0)`;

const nextDestination = ({ first }: Form, after: string) =>
  first(
    'destination_id',
    `n.organization_id = v.id and n.destination_id > ${after} and n.destination_id < ${FIRST_WAREHOUSE}`,
  );

const claimText = (form: Form) => `
with recursive mine as materialized (
  select positions * $14::int4multirange as positions from relay_leases where owner = $10 and expires_at > now()
), organization(id) as (
  select ${form.first('organization_id', 'n.organization_id > $1')} where exists (select from mine)
  union all
  select ${form.first('organization_id', 'n.organization_id > last.id')} from organization last where last.id is not null
), visited as materialized (
  select id from organization where id is not null and id <> all($2::text[]) limit $3
)
select o.* from visited v
left join lateral (
  select k.after, k.most from unnest($4::text[], $5::text[], $6::int[]) as k(id, after, most) where k.id = v.id limit 1
) known on true
cross join lateral (
  with recursive destination(id, number) as (
    select ${nextDestination(form, "coalesce(known.after, '')")}, 1
    union all
    select ${nextDestination(form, 'last.id')}, last.number + 1
    from destination last where last.id is not null and last.number < $9
  )
  select found.* from destination d
  left join lateral (select true as is_paused from circuits c where c.route_id = d.id and ${pauseBlocks('c')} limit 1) p on true
  cross join lateral (
    (select delivery_id as "deliveryId", destination_id as "destinationId", organization_id as "organizationId",
            event_id as "eventId", source_id as "sourceId", route_id as "routeId", priority,
            failover_of as "failoverOf", resume,
            case when p.is_paused then 'paused' else
              (select case when ${pauseBlocks('c')} then 'paused' else c.state end from circuits c
               where c.route_id = waiting.route_id
                 and (${pauseBlocks('c')} or failover_of is null and ${circuitBlocks('c', 'waiting.delivery_id')}))
            end as "blockedBy"
     from (
       select * from (${form.rows(`d.id <> all($8::text[]) and (select positions from mine) @> (${POSITION})
         and n.delivery_id not in (select unnest($11::text[])) and n.delivery_id not in (select delivery_id from relay_leftovers)`)}) ours
       order by priority desc, delivery_id
       limit ${MOST_OF_DESTINATION}
     ) waiting)
    union all
    select null, d.id, v.id, null, null, null, null, null, null, null where d.id is null or d.number = $9
  ) found
  limit coalesce(known.most, $7)
) o
limit $13`;

const CLAIM = { name: 'claim', text: claimText(FROM_ALL) };
const CLAIM_FROM_BUCKETS = { name: 'claim-from-buckets', text: claimText(FROM_BUCKETS) };

/** Where claims of an organization continue, and how much it may have. */
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

/** What to claim, and from what. */
export interface Claim {
  /** Organizations sort after this id ('' = from the first). */
  afterOrganization: string;
  /** Those at their limit, and suspended ones. */
  skippedOrganizations: string[];
  /** How many to examine, without skipped ones. */
  maxOrganizations: number;
  /** What is known of organizations. */
  turns: OrganizationTurn[];
  /** Most rows of each other organization, at least one. */
  mostOfOthers: number;
  /** Destinations at their in-flight limit. */
  fullDestinations: string[];
  /** How many destinations of an organization to examine, full ones included. */
  maxDestinations: number;
  /** The name of the relay's lease. */
  owner: string;
  /** Those of its positions to claim from. */
  positions: Positions;
  /** Deliveries this relay has started and whose result is not recorded yet. */
  inFlight: string[];
  /** Most rows of one destination; it gets at most half of its organization's. */
  perDestination: number;
  /** Most rows in all, at least one. */
  most: number;
}

/** Reads deliveries to start. */
export async function claimDeliveries(db: Queryable, claim: Claim): Promise<Claimed> {
  const { rows } = await db.query<OutboxRow | Stopped>(claimStatement(claim));
  return upTo(rows, claim.most);
}

/** The statement of a claim, which tests explain. */
export function claimStatement(
  claim: Claim,
  isFromBuckets = bucketsOf(claim.positions).size <= MOST_BUCKETS,
): { name: string; text: string; values: unknown[] } {
  return {
    ...(isFromBuckets ? CLAIM_FROM_BUCKETS : CLAIM),
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
      writePositions(claim.positions),
      ...(isFromBuckets ? bucketValues(claim.positions) : []),
    ],
  };
}

/** The buckets, and the greatest part of a destination's rows that may come from each. */
function bucketValues(positions: Positions): [number[], number[]] {
  const sizes = bucketsOf(positions);
  const parts = [...sizes.values()].map((size) => Math.min(1, (2 * size) / sizeOf(positions)));
  return [[...sizes.keys()], parts];
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

// The workflow may have reached its next attempt meanwhile, and wait for its turn: then its signal depends on the row. The delivery is
// looked up by the parameter: by the row, PostgreSQL 18 crashes when it checks a row again that has changed while it waited
// (docs/postgresql-18-lost-update.md).
const REMOVE = `
with left_alone as (
  delete from outbox o where destination_id = $1 and priority = $2 and delivery_id = $3
    and (resume is distinct from 'waiting'
         or not exists (select from deliveries d where d.id = $3 and d.status in ${OPEN}))
  returning delivery_id, organization_id, destination_id
)
insert into retrying_deliveries (delivery_id, organization_id, destination_id)
select * from left_alone where exists (select from deliveries d where d.id = $3 and d.status in ${OPEN}) on conflict do nothing`;

/** Removes a delivery from the outbox whose workflow has taken over: while it is open, `retrying_deliveries` has it. */
export async function removeQueued(
  db: Queryable,
  row: Pick<OutboxRow, 'destinationId' | 'priority' | 'deliveryId'>,
): Promise<void> {
  await db.query(REMOVE, [row.destinationId, row.priority, row.deliveryId]);
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

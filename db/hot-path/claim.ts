// Claiming: which deliveries a relay starts next, and what their workflows start with.
import type { RetryPolicy } from '../../core/delivery/backoff.ts';
import type { LaneSetting } from '../../core/delivery/delivery.ts';
import type { Queryable } from '../connections/pool.ts';
import { fragment, raw, sql } from '../connections/statements.ts';
import { circuitBlocks, FIRST_WAREHOUSE, OPEN, outboxRow, pauseBlocks } from '../sql/rules.ts';

/**
 * A delivery whose first attempt has no result yet; or has one, but Temporal has no workflow for what is left (lane
 * `express`); or whose next attempt waits: for a slot of a rate limit, a slot at its destination, its organization's
 * turn or resumption.
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
  /** Of its ordering key; null: it has none. */
  orderHash: Buffer | null;
}

/**
 * `lost`, `ended`: the delivery's workflow is gone, and it continues from its recorded attempts; with `ended` the
 * workflow's id may be reused. `waiting`: its workflow runs, and waits for its turn.
 */
export type Resume = 'lost' | 'ended' | 'waiting';

// A claim writes nothing: the relay remembers what it has in flight, and a row leaves the outbox with the result of its
// first attempt. Two relays never read the same row, because a shard has one owner, whom the claim itself checks: a
// worker that was taken for dead while it was paused reads nothing. What a worker had in flight when it gave a shard up
// is left to it (`handed_over`). If its shards are taken away after a claim, both start the same workflow id and the
// second start is refused; or, in the express lane, both make the attempt and one of them is recorded. The recursive
// parts hop from organization to organization, and inside each from destination to destination (one probe each), so the
// cost follows the number of destinations with work that are examined, not the length of the backlog; and neither can
// starve another. Of the rows of a destination it steps over those of other workers: of N workers each reads about N
// for each row that it takes (docs/operate/scaling.md). Callers go round-robin: each claim starts behind the last
// organization that the one before has examined, and inside an organization behind its last destination, whether that
// had something to start or not. A claim ends when enough is found, so nothing is fetched needlessly and the next one
// gets its turn. It ends before the warehouses, whose ids come after all others: their deliveries are written in files
// (db/warehouse/batches.ts). Deliveries in flight are a sub-select, which PostgreSQL hashes: comparing each row with
// the whole array took longer than the rest of the statement. The circuits are few rows, looked up by key: for each
// destination, which may be paused, and for the route of each claimed row; only primary deliveries are subject to its
// state, and all to its pause. An organization whose limit of rows was not reached has a last row without a delivery,
// which says where it was left: null when no destination is left in it. PostgreSQL reads a CTE only as far as needed,
// so a full claim has not gone further.
const nextOrganization = (after: string) =>
  `(select n.organization_id from outbox n where n.organization_id > ${after} order by n.organization_id limit 1)`;
const nextDestination = (after: string) =>
  `(select n.destination_id from outbox n
     where n.organization_id = v.id and n.destination_id > ${after} and n.destination_id < ${FIRST_WAREHOUSE}
     order by n.organization_id, n.destination_id limit 1)`;

const CLAIM = `
with recursive mine as materialized (
  select array_agg(shard) as shards from shards where owner = $10 and shard = any($14::smallint[])
), organization(id) as (
  select ${nextOrganization('$1')} where (select shards from mine) is not null
  union all
  select ${nextOrganization('last.id')} from organization last where last.id is not null
), visited as materialized (
  select id from organization where id is not null and id <> all($2::text[]) limit $3
)
select o.* from visited v
left join lateral (
  select k.after, k.most from unnest($4::text[], $5::text[], $6::int[]) as k(id, after, most) where k.id = v.id limit 1
) known on true
cross join lateral (
  with recursive destination(id, number) as (
    select ${nextDestination("coalesce(known.after, '')")}, 1
    union all
    select ${nextDestination('last.id')}, last.number + 1
    from destination last where last.id is not null and last.number < $9
  )
  select found.* from destination d
  left join lateral (select true as is_paused from circuits c where c.route_id = d.id and ${pauseBlocks('c')}
    limit 1) p on true
  cross join lateral (
    (select delivery_id as "deliveryId", destination_id as "destinationId", organization_id as "organizationId",
            event_id as "eventId", source_id as "sourceId", route_id as "routeId", priority,
            failover_of as "failoverOf", resume, order_hash as "orderHash",
            case when p.is_paused then 'paused' else
              (select case when ${pauseBlocks('c')} then 'paused' else c.state end from circuits c
               where c.route_id = waiting.route_id
                 and (${pauseBlocks('c')} or failover_of is null and ${circuitBlocks('c', 'waiting.delivery_id')}))
            end as "blockedBy"
     from (
       select * from outbox n
       where n.organization_id = v.id and n.destination_id = d.id and d.id <> all($8::text[])
         and n.shard = any((select shards from mine)::smallint[])
         and n.delivery_id not in (select unnest($11::text[]))
         and n.delivery_id not in (select unnest(handed_over) from workers)
       order by n.priority desc, n.delivery_id
       limit least($12, (coalesce(known.most, $7) + 1) / 2)
     ) waiting)
    union all
    select null, d.id, v.id, null, null, null, null, null, null, null, null where d.id is null or d.number = $9
  ) found
  limit coalesce(known.most, $7)
) o
limit $13`;

interface OrganizationTurn {
  id: string;
  /** Destinations sort after this id ('' = from the first). */
  after: string;
  /** Most rows, at least one. */
  most: number;
}

export interface Claimed {
  rows: OutboxRow[];
  /** Of each examined organization: the last examined destination; '' when none is left behind it. In their order. */
  examinedTo: Map<string, string>;
  /** Whether it ended because it had enough. */
  isFull: boolean;
}

export interface Claim {
  /** Organizations sort after this id ('' = from the first). */
  afterOrganization: string;
  skippedOrganizations: string[];
  /** How many to examine, without skipped ones. */
  maxOrganizations: number;
  turns: OrganizationTurn[];
  /** Most rows of each other organization, at least one. */
  mostOfOthers: number;
  /** Destinations at their in-flight limit. */
  fullDestinations: string[];
  /** How many destinations of an organization to examine, full ones included. */
  maxDestinations: number;
  owner: string;
  shards: readonly number[];
  /** Deliveries this relay has started and whose result is not recorded yet. */
  inFlight: string[];
  /** Most rows of one destination; it gets at most half of its organization's. */
  perDestination: number;
  /** Most rows in all, at least one. */
  most: number;
}

export async function claimDeliveries(db: Queryable, claim: Claim): Promise<Claimed> {
  const { rows } = await db.query<OutboxRow | Stopped>({
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
      claim.shards,
    ],
  });
  return upTo(rows, claim.most);
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

interface Stopped {
  deliveryId: null;
  organizationId: string;
  destinationId: string | null;
}

const isStopped = (row: OutboxRow | Stopped): row is Stopped => row.deliveryId === null;

type Place = Pick<OutboxRow, 'organizationId' | 'destinationId' | 'priority' | 'deliveryId'>;

export async function removeQueued(
  db: Queryable,
  { organizationId, destinationId, priority, deliveryId }: Place,
): Promise<void> {
  // The workflow may have reached its next attempt meanwhile, and wait for its turn: then its signal depends on the row.
  // The delivery is looked up by the parameter: by the row, PostgreSQL 18 crashes when it checks a row again that has
  // changed while it waited (docs/internals/postgresql-18.md).
  const isOpen = fragment`exists (select from deliveries d where d.id = ${deliveryId} and d.status in ${raw(OPEN)})`;
  await sql(db).run`
    with left_alone as (
      delete from outbox o where organization_id = ${organizationId} and destination_id = ${destinationId}
        and priority = ${priority} and delivery_id = ${deliveryId}
        and (resume is distinct from 'waiting' or not ${isOpen})
      returning delivery_id, organization_id, destination_id
    )
    insert into retrying_deliveries (delivery_id, organization_id, destination_id)
    select * from left_alone where ${isOpen} on conflict do nothing`;
}

export async function stillQueued(db: Queryable, rows: OutboxRow[]): Promise<Map<string, Resume | null>> {
  const found = await sql(db).rows<Pick<OutboxRow, 'deliveryId' | 'resume'>>`
    select o.delivery_id, o.resume
    from unnest(${rows.map((row) => row.organizationId)}::text[], ${rows.map((row) => row.destinationId)}::text[],
      ${rows.map((row) => row.priority)}::int[], ${rows.map((row) => row.deliveryId)}::text[])
      as wanted(organization_id, destination_id, priority, id)
    cross join lateral (select * from outbox o where ${raw(outboxRow('wanted'))} limit 1) o`;
  return new Map(found.map(({ deliveryId, resume }) => [deliveryId, resume]));
}

// Small indexes too, which PostgreSQL skips when few pages have dead rows; the file is not truncated, which would block
// claims; nothing is done while another process vacuums (PostgreSQL manual, VACUUM).
const VACUUM = 'vacuum (index_cleanup on, truncate off, process_toast off, skip_locked) outbox';

/**
 * Vacuums the dead rows of the outbox and its index. Not inside a transaction. Without the right to, nothing happens.
 */
export async function vacuumOutbox(db: Queryable): Promise<void> {
  await db.query(VACUUM);
}

export interface StartPolicy {
  retryPolicy: RetryPolicy;
  /** Null: unlimited. */
  rateLimitPerMinute: number | null;
  /** Most attempts at a time, all workers together; null: as many as the destination copes with. */
  maxConcurrency: number | null;
  /** Of the route; null: the setting of the service. */
  lane: LaneSetting | null;
  destinationName: string;
  sourceName: string;
  /** Null: no route, or it was deleted. */
  routeName: string | null;
}

const LOAD_POLICIES = `
select t.id as "destinationId", s.id as "sourceId", t.retry_policy as "retryPolicy",
       t.rate_limit_per_minute as "rateLimitPerMinute", t.max_concurrency as "maxConcurrency",
       t.name as "destinationName", s.name as "sourceName", wanted.route_id as "routeId",
       r.name as "routeName", r.lane
from unnest($1::text[], $2::text[], $3::text[]) as wanted(destination_id, source_id, route_id)
join destinations t on t.id = wanted.destination_id
join sources s on s.id = wanted.source_id
left join routes r on r.id = wanted.route_id`;

type Way = Pick<OutboxRow, 'destinationId' | 'sourceId' | 'routeId'>;

export async function loadStartPolicies(db: Queryable, wanted: Way[]): Promise<(StartPolicy & Way)[]> {
  const { rows } = await db.query<StartPolicy & Way>({
    name: 'start-policies',
    text: LOAD_POLICIES,
    values: [
      wanted.map(({ destinationId }) => destinationId),
      wanted.map(({ sourceId }) => sourceId),
      wanted.map(({ routeId }) => routeId),
    ],
  });
  return rows;
}

// What waits behind the head of an ordering key (db/schema/04-outbox.sql), for the relay that has the head.

export interface OrderedRow extends OutboxRow {
  orderHash: Buffer;
  number: number;
}

const FOLLOWERS = `
select w.delivery_id as "deliveryId", w.destination_id as "destinationId", w.organization_id as "organizationId",
       w.event_id as "eventId", w.source_id as "sourceId", w.route_id as "routeId", w.priority,
       w.failover_of as "failoverOf", null as resume, null as "blockedBy", w.key_hash as "orderHash",
       w.number::float8 as number
from unnest($1::text[], $2::bytea[], $3::text[]) as k(destination_id, key_hash, head_id)
join order_keys h on h.destination_id = k.destination_id and h.key_hash = k.key_hash
  and h.head_id = k.head_id and h.waiting > 0
cross join lateral (
  select * from ordered_deliveries o
  where o.destination_id = k.destination_id and o.key_hash = k.key_hash
  order by o.number limit $4
) w
order by w.number`;

/**
 * The deliveries that wait behind the heads of ordering keys, the next one of each first. Of a key that has another
 * head by now nothing is returned: that one is in the outbox, and what follows it must not be sent before it.
 * @param most of each key
 */
export async function waitingInOrder(
  db: Queryable,
  heads: readonly Pick<OutboxRow, 'destinationId' | 'orderHash' | 'deliveryId'>[],
  most: number,
): Promise<OrderedRow[]> {
  const { rows } = await db.query<OrderedRow>({
    name: 'waiting-in-order',
    text: FOLLOWERS,
    values: [
      heads.map(({ destinationId }) => destinationId),
      heads.map(({ orderHash }) => orderHash),
      heads.map(({ deliveryId }) => deliveryId),
      most,
    ],
  });
  return rows;
}

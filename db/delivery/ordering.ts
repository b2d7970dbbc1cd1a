// Ordering keys of deliveries (db/schema/13-ordering.sql): who is next, what blocks a key, and what users do about it.
import type { Queryable } from '../connections/pool.ts';
import type { OutboxRow } from '../hot-path/claim.ts';
import { OPEN, WAKE_RELAYS } from '../sql/rules.ts';

export interface OrderedRow extends OutboxRow {
  orderHash: Buffer;
  number: number;
}

const FOLLOWERS = `
select w.delivery_id as "deliveryId", w.destination_id as "destinationId", w.organization_id as "organizationId",
       w.event_id as "eventId", w.source_id as "sourceId", w.route_id as "routeId", w.priority,
       w.failover_of as "failoverOf", null as resume, null as "blockedBy", w.key_hash as "orderHash",
       w.number::float8 as number
from unnest($1::text[], $2::bytea[], $3::bigint[]) as k(destination_id, key_hash, after)
cross join lateral (
  select * from ordered_deliveries o
  where o.destination_id = k.destination_id and o.key_hash = k.key_hash and o.number > k.after
  order by o.number limit $4
) w
order by w.number`;

/** The deliveries that wait in ordering keys, the next one of each first. @param after only later numbers than this */
export async function waitingInOrder(
  db: Queryable,
  keys: { destinationId: string; orderHash: Buffer; after: number }[],
  most: number,
): Promise<OrderedRow[]> {
  const { rows } = await db.query<OrderedRow>({
    name: 'waiting-in-order',
    text: FOLLOWERS,
    values: [
      keys.map(({ destinationId }) => destinationId),
      keys.map(({ orderHash }) => orderHash),
      keys.map(({ after }) => after),
      most,
    ],
  });
  return rows;
}

// A delivery that failed stops blocking its key when its time is over.
const END_HOLDS = `
with ended as materialized (
  select destination_id, key_hash from order_keys where hold_until <= now()
  order by destination_id, key_hash limit $1 for update skip locked
)
select count(advance_key(destination_id, key_hash, true))::int as advanced, count(*)::int as ended from ended`;

/** @returns how many keys were blocked until now */
export async function endHolds(db: Queryable, most: number): Promise<number> {
  const { rows } = await db.query<{ ended: number }>(END_HOLDS, [most]);
  return rows[0]?.ended ?? 0;
}

// The head of a key is gone where its partition was dropped before it had ended; only keys with something waiting need a
// repair, and others get one when something waits there.
const REPAIR = `
with recursive key(destination_id, key_hash) as (
  (select destination_id, key_hash from ordered_deliveries order by destination_id, key_hash limit 1)
  union all
  select n.destination_id, n.key_hash from key k cross join lateral (
    select destination_id, key_hash from ordered_deliveries w
    where (w.destination_id, w.key_hash) > (k.destination_id, k.key_hash) order by destination_id, key_hash limit 1) n
), stuck as materialized (
  select o.destination_id, o.key_hash from key k
  join order_keys o on o.destination_id = k.destination_id and o.key_hash = k.key_hash
  left join deliveries d on d.id = o.head_id
  where case when o.hold_until is null then d.id is null or d.status not in ${OPEN} else d.id is null end
  order by o.destination_id, o.key_hash limit $1 for update of o skip locked
)
select count(advance_key(destination_id, key_hash, true))::int as advanced from stuck`;

/** Keys whose head is gone get the next one. @returns how many */
export async function repairOrder(db: Queryable, most: number): Promise<number> {
  const { rows } = await db.query<{ advanced: number }>(REPAIR, [most]);
  return rows[0]?.advanced ?? 0;
}

export interface OrderKeyRow {
  key: string;
  hash: string;
  state: 'blocked' | 'waiting' | 'delivering' | 'idle';
  headDeliveryId: string | null;
  headSince: Date | null;
  holdUntil: Date | null;
  waiting: number;
  lastSequence: number;
}

/** Most deliveries of a key that are counted. */
export const MOST_COUNTED = 10_000;

const KEY = `
select k.key, encode(k.key_hash, 'hex') as hash, k.head_id as "headDeliveryId", k.head_since as "headSince",
       k.hold_until as "holdUntil", k.last_number::float8 as "lastSequence", w.waiting,
       case when k.hold_until is not null then 'blocked' when k.head_id is null then 'idle'
         when w.waiting > 0 then 'waiting' else 'delivering' end as state
from order_keys k
cross join lateral (
  select count(*)::int as waiting from (
    select from ordered_deliveries o where o.destination_id = k.destination_id and o.key_hash = k.key_hash
    limit ${MOST_COUNTED}) o
) w`;

/**
 * Keys of a destination in the order of their hashes.
 * @param state only these; null: all
 * @param after the hash that the page before ended with; '' for the first page
 */
export async function listOrderKeys(
  db: Queryable,
  {
    organizationId,
    destinationId,
    state,
    after,
    most,
  }: {
    organizationId: string;
    destinationId: string;
    state: OrderKeyRow['state'] | null;
    after: string;
    most: number;
  },
): Promise<OrderKeyRow[]> {
  const { rows } = await db.query<OrderKeyRow>(
    `select * from (${KEY}
       where k.organization_id = $1 and k.destination_id = $2 and k.key_hash > decode($4, 'hex')
         and case $3::text when 'blocked' then k.hold_until is not null when 'idle' then k.head_id is null
               when 'waiting' then k.head_id is not null and k.hold_until is null
               when 'delivering' then k.head_id is not null and k.hold_until is null else true end
       order by k.key_hash) keys
     where $3::text is null or state = $3 limit $5`,
    [organizationId, destinationId, state, after, most],
  );
  return rows;
}

/** @returns null when the destination has no such key */
export async function findOrderKey(
  db: Queryable,
  organizationId: string,
  destinationId: string,
  hash: string,
): Promise<OrderKeyRow | null> {
  const { rows } = await db.query<OrderKeyRow>(
    `${KEY} where k.organization_id = $1 and k.destination_id = $2 and k.key_hash = decode($3, 'hex')`,
    [organizationId, destinationId, hash],
  );
  return rows[0] ?? null;
}

const SKIP = `
with blocked as materialized (
  select destination_id, key_hash from order_keys
  where organization_id = $1 and destination_id = $2 and key_hash = decode($3, 'hex') and head_id = $4
    and hold_until is not null
  for update
)
select advance_key(destination_id, key_hash, true) from blocked`;

/** Lets a key go on after a failed delivery that blocks it. @returns false when it does not block it any more */
export async function skipBlocked(
  db: Queryable,
  organizationId: string,
  destinationId: string,
  hash: string,
  headId: string,
): Promise<boolean> {
  const { rowCount } = await db.query(SKIP, [organizationId, destinationId, hash, headId]);
  return rowCount !== 0;
}

const RELEASE = `
with released as materialized (
  update order_keys set released_to = last_number
  where organization_id = $1 and destination_id = $2 and key_hash = decode($3, 'hex')
  returning destination_id, key_hash, hold_until
)
select case when hold_until is not null then advance_key(destination_id, key_hash, true) end, ${WAKE_RELAYS}
from released`;

/** What waits in a key now is delivered in its order, and a failure among it blocks nothing. */
export async function releaseKey(
  db: Queryable,
  organizationId: string,
  destinationId: string,
  hash: string,
): Promise<boolean> {
  const { rowCount } = await db.query(RELEASE, [organizationId, destinationId, hash]);
  return rowCount !== 0;
}

/** Forgets keys of which nothing is open, and that got nothing since a time. @returns how many */
export async function forgetOrderKeys(db: Queryable, days: number, most: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from order_keys where ctid = any(array(
       select ctid from order_keys where head_id is null and last_at < now() - make_interval(days => $1)
       limit $2 for update skip locked))`,
    [days, most],
  );
  return rowCount ?? 0;
}

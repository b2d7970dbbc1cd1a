// Ordering keys of deliveries (db/schema/04-outbox.sql): who is next, what blocks a key, and what users do about it.
import type { Queryable } from '../connections/pool.ts';
import { countMatching, type Part, readPart } from '../sql/list-parts.ts';
import { Stride, takeUnlocked, throughPages } from '../sql/ranges.ts';
import { KEYS_LOCKED, lockKeys, OPEN, WAKE_RELAYS } from '../sql/rules.ts';
import { type Fragment, fragment, raw, sql } from '../connections/statements.ts';

/** When a key stops being blocked, for `db/operations/due.ts`. */
export const NEXT_HOLD_END = 'select min(hold_until) from order_keys where hold_until is not null';

/** @returns how many keys were blocked until now */
export async function endHolds(db: Queryable, most: number): Promise<number> {
  // A delivery that failed stops blocking its key when its time is over.
  return sql(db).run`
    with ended as materialized (
      select destination_id, key_hash from order_keys where hold_until <= now()
      order by destination_id, key_hash limit ${most} for update skip locked
    )
    select advance_key(destination_id, key_hash, true) from ended`;
}

const KEYS_PER_PAGE = 500;

/** Keys whose head is gone get the next one. @returns how many */
export async function repairOrder(db: Queryable): Promise<number> {
  let repaired = 0;
  for (let after = { destinationId: '', hash: '' }; ; ) {
    // The head of a key is gone where its partition was dropped before it had ended; only keys with something waiting
    // need a repair, and others get one when something waits there.
    const last = await sql(db).first<{ destinationId: string; hash: string; advanced: number }>`
      with recursive key(destination_id, key_hash, number) as (
        (select destination_id, key_hash, 1 from ordered_deliveries
         where (destination_id, key_hash) > (${after.destinationId}, decode(${after.hash}, 'hex'))
         order by destination_id, key_hash limit 1)
        union all
        select n.destination_id, n.key_hash, k.number + 1 from key k cross join lateral (
          select destination_id, key_hash from ordered_deliveries w
          where (w.destination_id, w.key_hash) > (k.destination_id, k.key_hash)
          order by destination_id, key_hash limit 1) n
        where k.number < ${KEYS_PER_PAGE}
      ), page as materialized (
        select * from key
      ), stuck as materialized (
        select o.destination_id, o.key_hash, o.head_id from page k
        join order_keys o on o.destination_id = k.destination_id and o.key_hash = k.key_hash
        left join deliveries d on d.id = o.head_id
        where d.id is null or (o.hold_until is null and d.status not in ${raw(OPEN)})
      ), locked as materialized (
        -- as long as it has the head that was looked at
        select o.destination_id, o.key_hash from stuck s
        join order_keys o on o.destination_id = s.destination_id and o.key_hash = s.key_hash
          and o.head_id is not distinct from s.head_id
        order by o.destination_id, o.key_hash for update of o skip locked
      ), advanced as materialized (
        select advance_key(destination_id, key_hash, true) from locked
      )
      select destination_id, encode(key_hash, 'hex') as hash, (select count(*) from advanced)::int as advanced
      from page order by number desc limit 1`;
    if (last === undefined) return repaired;
    repaired += last.advanced;
    after = last;
  }
}

export const ORDER_KEY_STATES = ['blocked', 'waiting', 'delivering', 'idle'] as const;

export interface OrderKeyRow {
  /** Of the key, 32 hexadecimal digits. */
  id: string;
  key: string;
  state: (typeof ORDER_KEY_STATES)[number];
  /** Null: nothing of the key is open. */
  headDeliveryId: string | null;
  headSequence: number | null;
  headSince: Date | null;
  blockedSince: Date | null;
  blockedUntil: Date | null;
  /** How many wait behind the head. */
  waiting: number;
  lastSequence: number;
}

const COLUMNS = raw(`
select encode(k.key_hash, 'hex') as id, k.key, k.head_id as head_delivery_id, k.head_since,
       k.head_number::float8 as head_sequence, k.blocked_at as blocked_since, k.hold_until as blocked_until,
       k.last_number::float8 as last_sequence, k.waiting,
       case when k.hold_until is not null then 'blocked' when k.head_id is null then 'idle'
         when k.waiting > 0 then 'waiting' else 'delivering' end as state`);
/** `waiting`: something waits behind an open delivery. */
export const ORDER_KEY_FILTERS = ['blocked', 'waiting'] as const;

export interface KeysOf {
  organizationId: string;
  destinationId: string;
}

const keysOf = ({ organizationId, destinationId }: KeysOf, after: Buffer) => {
  const all = fragment`select * from order_keys k where k.organization_id = ${organizationId}
    and k.destination_id = ${destinationId} and k.key_hash > ${after}`;
  return {
    all,
    blocked: fragment`${all} and k.hold_until is not null`,
    // From key to key, whatever the number of deliveries that wait in each.
    waiting: fragment`
      with recursive hop(key_hash) as (
        (select key_hash from ordered_deliveries where destination_id = ${destinationId} and key_hash > ${after}
          order by key_hash limit 1)
        union all
        select n.key_hash from hop cross join lateral (
          select key_hash from ordered_deliveries where destination_id = ${destinationId} and key_hash > hop.key_hash
          order by key_hash limit 1
        ) n
      )
      select k.* from hop join order_keys k on k.destination_id = ${destinationId} and k.key_hash = hop.key_hash
      where k.organization_id = ${organizationId} and k.hold_until is null`,
  };
};

/** A part of the ordering keys of a destination, in the order of their ids. @throws PageTooDeepError */
export async function listOrderKeys(
  db: Queryable,
  of: KeysOf,
  filter: (typeof ORDER_KEY_FILTERS)[number] | undefined,
  part: Part,
) {
  const matching = (after: string) => keysOf(of, Buffer.from(after, 'hex'))[filter ?? 'all'];
  const { items: keys, ...found } = await readPart<OrderKeyRow>(part, {
    total: () => countMatching(db, fragment`from (${matching('')}) k`),
    items: (after, limit, offset) => sql(db).rows<OrderKeyRow>`
      ${COLUMNS} from (${matching(after ?? '')} order by key_hash limit ${limit} offset ${offset}) k
      order by k.key_hash`,
    cursorOf: ({ id }) => id,
  });
  return { keys, ...found };
}

/** @returns null when the destination has no such key */
export async function findOrderKey(
  db: Queryable,
  { organizationId, destinationId }: KeysOf,
  id: string,
): Promise<OrderKeyRow | null> {
  return sql(db).find<OrderKeyRow>`
    ${COLUMNS} from order_keys k
    where k.organization_id = ${organizationId} and k.destination_id = ${destinationId}
      and k.key_hash = decode(${id}, 'hex')`;
}

/** Lets a key go on after a failed delivery that blocks it. @returns false when it does not block it any more */
export async function skipBlocked(
  db: Queryable,
  { organizationId, destinationId }: KeysOf,
  id: string,
  headId: string,
): Promise<boolean> {
  return sql(db).any`
    with blocked as materialized (
      select destination_id, key_hash from order_keys
      where organization_id = ${organizationId} and destination_id = ${destinationId}
        and key_hash = decode(${id}, 'hex') and head_id = ${headId} and hold_until is not null
      for update
    )
    select advance_key(destination_id, key_hash, true) from blocked`;
}

/** What waits in a key now is delivered in its order, and a failure among it blocks nothing. */
export async function releaseKey(
  db: Queryable,
  { organizationId, destinationId }: KeysOf,
  id: string,
): Promise<boolean> {
  return sql(db).any`
    with released as materialized (
      update order_keys set released_to = last_number
      where organization_id = ${organizationId} and destination_id = ${destinationId}
        and key_hash = decode(${id}, 'hex')
      returning destination_id, key_hash, hold_until
    )
    select case when hold_until is not null then advance_key(destination_id, key_hash, true) end, ${raw(WAKE_RELAYS)}
    from released`;
}

async function drop(db: Queryable, condition: Fragment): Promise<void> {
  const keys = fragment`select destination_id as destination, key_hash as hash from ordered_deliveries
    where ${condition}`;
  await sql(db).run`
    with ${lockKeys(keys)}, gone as (
      delete from ordered_deliveries where ${condition} and ${raw(KEYS_LOCKED)} returning destination_id, key_hash
    )
    update order_keys k set waiting = k.waiting - g.count
    from (select destination_id, key_hash, count(*)::int as count from gone group by 1, 2) g
    where k.destination_id = g.destination_id and k.key_hash = g.key_hash`;
}

// Pages of a table that one statement goes through.
const LOOKING = new Stride(500);

/** Removes what waits in order for deliveries of events before this one, which are gone or go with their partition. */
export async function dropWaitingBefore(db: Queryable, eventId: string): Promise<void> {
  await throughPages(db, 'ordered_deliveries', LOOKING, (pages) =>
    drop(db, fragment`${pages} and event_id < ${eventId}`),
  );
}

/** Removes rows of ended deliveries from `ordered_deliveries`. */
export const dropWaiting = (db: Queryable, destinationIds: string[], deliveryIds: string[]): Promise<void> =>
  drop(db, fragment`destination_id = any(${destinationIds}::text[]) and delivery_id = any(${deliveryIds}::text[])`);

/**
 * Deletes ordering keys without an open delivery: those without an event for `days`, and those of deleted destinations.
 * @param days null: no number is too many
 */
export async function forgetOrderKeys(db: Queryable, days: number | null): Promise<void> {
  await throughPages(
    db,
    'order_keys',
    LOOKING,
    (pages) => sql(db).run`
      update order_keys set head_id = null, head_number = null, head_since = null
      where ctid = any(array(
        select ctid from order_keys k where ${pages} and waiting = 0 and hold_until is null and head_id is not null
        -- not one that is just being made
        and last_at < now() - interval '1 hour' and head_since < now() - interval '1 hour'
        and not exists (select from deliveries d where d.id = k.head_id and d.status in ${raw(OPEN)})
        for update skip locked))`,
  );
  const forgotten = fragment`head_id is null and (last_at < now() - make_interval(days => ${days}::int)
    or not exists (select from destinations t where t.id = destination_id))`;
  await throughPages(
    db,
    'order_keys',
    LOOKING,
    (pages) => sql(db).run`${takeUnlocked('order_keys', pages, forgotten)}`,
  );
}

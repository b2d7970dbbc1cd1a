// What waits behind the head of an ordering key (db/schema/04-outbox.sql), for the relay that has the head.
import type { Queryable } from '../connections/pool.ts';
import type { OutboxRow } from './claim.ts';

export interface OrderedRow extends OutboxRow {
  orderHash: Buffer;
  number: number;
}

const FOLLOWERS = `
select w.delivery_id as "deliveryId", w.destination_id as "destinationId", w.organization_id as "organizationId",
       w.event_id as "eventId", w.source_id as "sourceId", w.route_id as "routeId", w.priority,
       w.failover_of as "failoverOf", null as resume, null as "blockedBy", w.key_hash as "orderHash",
       w.number::float8 as number
from unnest($1::text[], $2::bytea[], $3::text[], $4::bigint[]) as k(destination_id, key_hash, last_id, last_number)
join order_keys h on h.destination_id = k.destination_id and h.key_hash = k.key_hash
  and (h.head_id = k.last_id or h.head_number <= k.last_number)
cross join lateral (
  select * from ordered_deliveries o
  where o.destination_id = k.destination_id and o.key_hash = k.key_hash and o.number > k.last_number
  order by o.number limit $5
) w
order by w.number`;

export interface KeyPosition {
  destinationId: string;
  orderHash: Buffer;
  /** The delivery after which to go on, and its number; 0 for one that is the head. */
  lastId: string;
  lastNumber: number;
}

/**
 * The deliveries that wait in ordering keys, the next one of each first. Of a key that has another head by now nothing is
 * returned: the next one is in the outbox, and what follows it must not be sent before it.
 * @param most of each key
 */
export async function waitingInOrder(db: Queryable, keys: readonly KeyPosition[], most: number): Promise<OrderedRow[]> {
  const { rows } = await db.query<OrderedRow>({
    name: 'waiting-in-order',
    text: FOLLOWERS,
    values: [
      keys.map(({ destinationId }) => destinationId),
      keys.map(({ orderHash }) => orderHash),
      keys.map(({ lastId }) => lastId),
      keys.map(({ lastNumber }) => lastNumber),
      most,
    ],
  });
  return rows;
}

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

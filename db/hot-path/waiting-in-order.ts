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

// What is left to be cancelled of deleted destinations: the request that deletes one cancels some of its open deliveries
// (delivery-commands.ts), the others that wait for a first attempt or for a circuit are cancelled here. One that waits for a
// retry finds out at its next attempt.
import { cancelDeliveries, DESTINATION_DELETED } from './delivery-commands.ts';
import type { Queryable } from './pool.ts';

const STEP = 500;

interface Waiting {
  deliveryId: string;
  organizationId: string;
  destinationId: string;
}

// Hops through the outbox from one destination to the next (hot-path/claim.ts). What waits for a circuit is a small table.
const NEXT = `
with recursive destination(id) as (
  (select destination_id from outbox order by destination_id limit 1)
  union all
  select (select o.destination_id from outbox o where o.destination_id > d.id order by o.destination_id limit 1)
  from destination d where d.id is not null
), gone as (
  select id from destination d where id is not null and not exists (select from destinations t where t.id = d.id) limit 1
), queued as (
  select o.delivery_id, o.organization_id, o.destination_id from gone g join outbox o on o.destination_id = g.id limit $1
), held as (
  select h.delivery_id, h.organization_id, h.destination_id from held_deliveries h
  where not exists (select from destinations t where t.id = h.destination_id) and not exists (select from queued) limit $1
)
select delivery_id as "deliveryId", organization_id as "organizationId", destination_id as "destinationId"
from (select * from queued union all select * from held) waiting`;

/** Cancels one step of what waits for a deleted destination. @returns null when there is none */
export async function cancelOfDeletedDestination(
  db: Queryable,
): Promise<{ destinationIds: string[]; cancelled: number } | null> {
  const { rows } = await db.query<Waiting>(NEXT, [STEP]);
  if (rows.length === 0) return null;
  let cancelled = 0;
  for (const [organizationId, waiting] of Map.groupBy(rows, (row) => row.organizationId)) {
    const deliveryIds = waiting.map(({ deliveryId }) => deliveryId);
    const ended = await cancelDeliveries(db, { organizationId, deliveryIds, reason: DESTINATION_DELETED });
    cancelled += ended.length;
  }
  // What has no open delivery any more must not be found again.
  const ids = rows.map(({ deliveryId }) => deliveryId);
  const destinationIds = [...new Set(rows.map(({ destinationId }) => destinationId))];
  await db.query('delete from outbox where destination_id = any($1::text[]) and delivery_id = any($2::text[])', [
    destinationIds,
    ids,
  ]);
  await db.query('delete from held_deliveries where delivery_id = any($1::text[])', [ids]);
  return { destinationIds, cancelled };
}

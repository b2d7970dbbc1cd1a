// Deliveries in an outbox, without the records that they belong to.
import { newId, shardOf } from '../../../core/text/ids.ts';
import type { OutboxRow, Resume } from '../../../db/hot-path/claim.ts';
import type { Pool } from '../../../db/connections/pool.ts';

/** Puts a delivery into the outbox. */
export async function queueDelivery(
  pool: Pool,
  deliveryId: string = newId('dlv'),
  resume: Resume | null = null,
): Promise<OutboxRow> {
  const row = {
    deliveryId,
    destinationId: newId('dst'),
    organizationId: newId('org'),
    eventId: newId('evt'),
    sourceId: newId('src'),
    routeId: newId('rte'),
    priority: 0,
    failoverOf: null,
    orderHash: null,
    blockedBy: null,
    resume,
  };
  await pool.query(
    `insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, route_id, priority, shard, resume)
     values ($1, $2, $3, $4, $5, $6, 0, $7, $8)`,
    [
      deliveryId,
      row.destinationId,
      row.organizationId,
      row.eventId,
      row.sourceId,
      row.routeId,
      shardOf(deliveryId),
      resume,
    ],
  );
  return row;
}

/** The ids of the deliveries in the outbox. */
export async function queuedDeliveries(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>('select delivery_id as id from outbox order by delivery_id');
  return rows.map(({ id }) => id);
}

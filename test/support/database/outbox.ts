// Deliveries in an outbox, without the records that they belong to.
import { newId, shardOf } from '../../../core/text/ids.ts';
import type { OutboxRow, Resume } from '../../../db/hot-path/claim.ts';
import type { Pool } from '../../../db/connections/pool.ts';
import { execute, selectColumn } from './sql.ts';

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
  await execute(pool)`
    insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, route_id, priority, shard,
    resume)
    values (${deliveryId}, ${row.destinationId}, ${row.organizationId}, ${row.eventId}, ${row.sourceId}, ${row.routeId},
    0, ${shardOf(deliveryId)}, ${resume})`;
  return row;
}

/** The ids of the deliveries in the outbox. */
export function queuedDeliveries(pool: Pool): Promise<string[]> {
  return selectColumn<string>(pool)`select delivery_id as id from outbox order by delivery_id`;
}

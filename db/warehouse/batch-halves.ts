// Moves half of the deliveries of a batch whose file would be too large to a new batch with its own object (warehouse_batches.half_of).
import type { Pool } from '../connections/pool.ts';
import { bounds } from '../connections/parameters.ts';
import type { BatchUnderWay } from './batches.ts';
import type { WarehouseKey } from './flushes.ts';
import { inOrder } from './order.ts';

// One statement, so that at every moment each delivery is in exactly one of the two. The batch is the first to be locked, and
// only by its latest upload: an older upload moves nothing. Deliveries that ended meanwhile stay where they are. The new batch is
// frozen now: it is uploaded after this one, and its key sorts behind.
const HALVE = `
with halved as (
  update warehouse_batches set status = 'frozen', events = $6, bytes = $7
  where id = $1 and attempts = $2 and status = 'uploading'
  returning *
), moved as (
  update deliveries d set batch_id = $3 from halved
  where d.id = any($8::text[]) and d.id between $9 and $10 and d.destination_id = halved.destination_id
    and d.batch_id = $1 and d.status = 'pending'
  returning d.id
)
insert into warehouse_batches (id, organization_id, destination_id, status, partition, key, file_format, field_mapping, payload_column,
                               compression, key_order, first_delivery_id, last_delivery_id, waiting_since, events, bytes, frozen_at,
                               half_of)
select $3, organization_id, destination_id, 'frozen', partition, $4, file_format, field_mapping, payload_column, compression, key_order,
       first, last, waiting_since, events_moved, $5, $11, id
from halved, (select count(*)::int as events_moved, min(id) as first, max(id) as last from moved) as m
where events_moved > 0
returning id`;

/** The parts of a split: what stays in the batch, and what the new one gets. Bytes of payloads. */
export interface Halves {
  left: { events: number; bytes: number };
  /** `keyAt`: its key when it is frozen at that time. */
  right: { id: string; keyAt: (frozenAt: Date) => string; bytes: number; deliveryIds: string[] };
}

/** @returns false when nothing was moved: a newer upload decides, or all deliveries to move have ended */
export function halveBatch(
  pool: Pool,
  { id, attempts, ...batch }: Pick<BatchUnderWay, 'id' | 'attempts'> & WarehouseKey,
  { left, right }: Halves,
): Promise<boolean> {
  const { ids, low, high } = bounds(right.deliveryIds);
  return inOrder(pool, batch, 'frozen', async (db, frozenAt) => {
    const { rowCount } = await db.query(HALVE, [
      ...[id, attempts, right.id, right.keyAt(frozenAt), right.bytes],
      ...[left.events, left.bytes],
      ...[ids, low, high, frozenAt],
    ]);
    return rowCount === 1;
  });
}

// Moves what waits for a warehouse from the outbox into a batch, whose file is fixed with it.
import type { KeyOrder } from '../../core/warehouse/object-key.ts';
import type { Pool } from '../connections/pool.ts';
import { bounds, jsonParameter } from '../connections/parameters.ts';
import { unqueue } from '../sql/rules.ts';
import { BATCH_COLUMNS, type BatchUnderWay, type FileForm } from './batches.ts';
import type { WarehouseKey } from './flushes.ts';
import { inOrder } from './order.ts';

// Deliveries are locked before their rows in the outbox, like in all statements that end deliveries, so they cannot deadlock. A
// delivery that ended meanwhile is skipped, and a row without an open delivery is removed. If another worker has frozen a batch
// of this destination meanwhile, the unique index on unfinished batches refuses the statement.
const FREEZE = `
with taken as (
  update deliveries set batch_id = $2
  where id = any($1::text[]) and id between $12 and $13 and status = 'pending' and batch_id is null
  returning id
), total as (
  select count(*)::int as events, coalesce(min(id), '') as first, coalesce(max(id), '') as last from taken
), unqueued as (
  ${unqueue('(select id, $3::text as organization_id, $4::text as destination_id, priority from unnest($1::text[], $11::int[]) as i(id, priority))', '(select events from total) >= 0')}
)
insert into warehouse_batches as b (id, organization_id, destination_id, status, partition, key, file_format, field_mapping,
                                    payload_column, compression, key_order, first_delivery_id, last_delivery_id, waiting_since, events,
                                    bytes, frozen_at)
select $2, $3, $4, 'frozen', $5, $6, $7, $8::jsonb, $14, $15, $16, first, last, $9, events, $10, $17 from total
on conflict (id) do update
  set status = 'frozen', key = excluded.key, file_format = excluded.file_format, field_mapping = excluded.field_mapping,
      payload_column = excluded.payload_column, compression = excluded.compression, key_order = excluded.key_order,
      first_delivery_id = excluded.first_delivery_id, last_delivery_id = excluded.last_delivery_id,
      waiting_since = excluded.waiting_since, events = excluded.events, bytes = excluded.bytes,
      frozen_at = excluded.frozen_at
  where b.status = 'open'
returning ${BATCH_COLUMNS}`;

export interface NewBatch extends WarehouseKey, FileForm {
  /** Of the open batch of the partition, or a new one. */
  id: string;
  partition: string;
  keyOrder: KeyOrder;
  /** Its key when it is frozen at that time. */
  keyAt: (frozenAt: Date) => string;
  waitingSince: Date;
  /** Of the payloads. */
  bytes: number;
  members: { deliveryId: string; priority: number }[];
}

/**
 * Moves deliveries from the outbox into a batch, in one statement.
 * @throws a database error when the destination already has an unfinished batch; nothing is changed then
 */
export function freezeBatch(pool: Pool, batch: NewBatch): Promise<BatchUnderWay> {
  const { ids, low, high } = bounds(batch.members.map(({ deliveryId }) => deliveryId));
  return inOrder(pool, batch, 'frozen', async (db, frozenAt) => {
    const { rows } = await db.query<BatchUnderWay>(FREEZE, [
      ids,
      batch.id,
      batch.organizationId,
      batch.destinationId,
      batch.partition,
      batch.keyAt(frozenAt),
      batch.fileFormat,
      batch.fieldMapping === null ? null : jsonParameter(batch.fieldMapping),
      batch.waitingSince,
      batch.bytes,
      batch.members.map(({ priority }) => priority),
      low,
      high,
      batch.payloadColumn,
      batch.compression,
      batch.keyOrder,
      frozenAt,
    ]);
    const frozen = rows[0];
    if (!frozen) throw new Error(`Batch ${batch.id} was frozen by another worker`);
    return frozen;
  });
}

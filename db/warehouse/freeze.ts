import type { KeyOrder } from '../../core/warehouse/files-and-keys.ts';
import type { Pool } from '../connections/pool.ts';
import { jsonParameter, among, fragment, sql } from '../connections/statements.ts';
import { unqueue } from '../sql/rules.ts';
import { BATCH_COLUMNS, type BatchUnderWay, type FileForm, inOrder } from './batches.ts';
import type { WarehouseKey } from './flushes.ts';

export interface NewBatch extends WarehouseKey, FileForm {
  id: string;
  partition: string;
  keyOrder: KeyOrder;
  keyAt: (frozenAt: Date) => string;
  waitingSince: Date;
  bytes: number;
  members: { deliveryId: string; priority: number }[];
}

/**
 * Moves deliveries from the outbox into a batch, in one statement.
 * @throws a database error when the destination already has an unfinished batch; nothing is changed then
 */
export function freezeBatch(pool: Pool, batch: NewBatch): Promise<BatchUnderWay> {
  const { id, organizationId, destinationId, members } = batch;
  const ids = members.map(({ deliveryId }) => deliveryId);
  const priorities = members.map(({ priority }) => priority);
  const fieldMapping = batch.fieldMapping === null ? null : jsonParameter(batch.fieldMapping);
  const chosen = fragment`(
    select id, ${organizationId}::text as organization_id, ${destinationId}::text as destination_id, priority
    from unnest(${ids}::text[], ${priorities}::int[]) as i(id, priority))`;
  return inOrder(pool, batch, 'frozen', async (db, frozenAt) => {
    // Deliveries are locked before their rows in the outbox, like in all statements that end deliveries, so they cannot
    // deadlock. A delivery that ended meanwhile is skipped, and a row without an open delivery is removed. If another
    // worker has frozen a batch of this destination meanwhile, the unique index on unfinished batches refuses the
    // statement.
    const frozen = await sql(db).first<BatchUnderWay>`
      with taken as (
        update deliveries set batch_id = ${id}
        where ${among('id', ids)} and status = 'pending' and batch_id is null
        returning id
      ), total as (
        select count(*)::int as events, coalesce(min(id), '') as first, coalesce(max(id), '') as last from taken
      ), unqueued as (
        ${unqueue(chosen, '(select events from total) >= 0')}
      )
      insert into warehouse_batches as b (id, organization_id, destination_id, status, partition, key, file_format,
        field_mapping, payload_column, compression, key_order, first_delivery_id, last_delivery_id, waiting_since,
        events, bytes, frozen_at)
      select ${id}, ${organizationId}, ${destinationId}, 'frozen', ${batch.partition}, ${batch.keyAt(frozenAt)},
             ${batch.fileFormat}, ${fieldMapping}::jsonb, ${batch.payloadColumn}, ${batch.compression},
             ${batch.keyOrder}, first, last, ${batch.waitingSince}::timestamptz, events, ${batch.bytes}::bigint,
             ${frozenAt}::timestamptz
      from total
      on conflict (id) do update
        set status = 'frozen', key = excluded.key, file_format = excluded.file_format,
            field_mapping = excluded.field_mapping, payload_column = excluded.payload_column,
            compression = excluded.compression, key_order = excluded.key_order,
            first_delivery_id = excluded.first_delivery_id, last_delivery_id = excluded.last_delivery_id,
            waiting_since = excluded.waiting_since, events = excluded.events, bytes = excluded.bytes,
            frozen_at = excluded.frozen_at
        where b.status = 'open'
      returning ${BATCH_COLUMNS}`;
    if (!frozen) throw new Error(`Batch ${id} was frozen by another worker`);
    return frozen;
  });
}

// Moves half of the deliveries of a batch whose file would be too large to a new batch with its own object
// (warehouse_batches.half_of).

/** The parts of a split: what stays in the batch, and what the new one gets. Bytes of payloads. */
export interface Halves {
  left: { events: number; bytes: number };
  right: { id: string; keyAt: (frozenAt: Date) => string; bytes: number; deliveryIds: string[] };
}

/** @returns false when nothing was moved: a newer upload decides, or all deliveries to move have ended */
export function halveBatch(
  pool: Pool,
  { id, attempts, ...batch }: Pick<BatchUnderWay, 'id' | 'attempts'> & WarehouseKey,
  { left, right }: Halves,
): Promise<boolean> {
  const ids = right.deliveryIds;
  return inOrder(pool, batch, 'frozen', async (db, frozenAt) => {
    // One statement, so that at every moment each delivery is in exactly one of the two. The batch is the first to be
    // locked, and only by its latest upload: an older upload moves nothing. Deliveries that ended meanwhile stay where
    // they are. The new batch is frozen now: it is uploaded after this one, and its key sorts behind.
    return sql(db).any`
      with halved as (
        update warehouse_batches set status = 'frozen', events = ${left.events}, bytes = ${left.bytes}
        where id = ${id} and attempts = ${attempts} and status = 'uploading'
        returning *
      ), moved as (
        update deliveries d set batch_id = ${right.id} from halved
        where ${among('d.id', ids)}
          and d.destination_id = halved.destination_id and d.batch_id = ${id} and d.status = 'pending'
        returning d.id
      )
      insert into warehouse_batches (id, organization_id, destination_id, status, partition, key, file_format,
        field_mapping, payload_column, compression, key_order, first_delivery_id, last_delivery_id, waiting_since,
        events, bytes, frozen_at, half_of)
      select ${right.id}, organization_id, destination_id, 'frozen', partition, ${right.keyAt(frozenAt)}, file_format,
             field_mapping, payload_column, compression, key_order, first, last, waiting_since, events_moved,
             ${right.bytes}, ${frozenAt}, id
      from halved, (select count(*)::int as events_moved, min(id) as first, max(id) as last from moved) as m
      where events_moved > 0
      returning id`;
  });
}

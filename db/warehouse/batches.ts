// Batches of warehouse destinations: which deliveries wait, moving them into a batch, and the life cycle of the batch
// (migration 0012). Each statement names the status it starts from, so that of two workers only one continues. They are
// planned for every call, because batches differ in size: do not run them on the hot-path pool.
import { errorText, type DescribedError, type ErrorSummary } from '../../core/text/error-summary.ts';
import type { FieldMappingRule } from '../../core/warehouse/field-mapping.ts';
import type { Compression, FileFormat, KeyOrder } from '../../core/warehouse/files-and-keys.ts';
import { type Conversion, convertedCount, type PayloadColumn } from '../../core/warehouse/rows.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { jsonParameter, raw, sql } from '../connections/statements.ts';
import { LOCKS, pauseBlocks, TO_UPLOAD, UNDER_WAY } from '../sql/rules.ts';
import type { WarehouseKey } from './flushes.ts';

export interface WaitingRow {
  deliveryId: string;
  routeId: string | null;
  isPaused: boolean;
  eventId: string;
  priority: number;
  /** Bytes; null when the event is gone. */
  payloadSize: number | null;
  receivedAt: Date | null;
  /** Since when it waits, by the clock of the database: since it was made, or released by what held it. */
  waitsSince: Date;
  /** Null when the source was deleted. */
  sourceSlug: string | null;
}

export async function waitingDeliveries(
  db: Queryable,
  { organizationId, destinationId }: WarehouseKey,
  limit: number,
): Promise<WaitingRow[]> {
  return sql(db).rows<WaitingRow>`
    select o.delivery_id as "deliveryId", o.route_id as "routeId",
           exists (select from circuits c where c.route_id = any(array[o.destination_id, o.route_id])
             and ${raw(pauseBlocks('c'))}) as "isPaused",
           o.event_id as "eventId", o.priority, e.payload_size as "payloadSize", e.received_at as "receivedAt",
           o.entered_at as "waitsSince", s.slug as "sourceSlug"
    from outbox o
    left join lateral (select payload_size, received_at from events where id = o.event_id limit 1) e on true
    left join sources s on s.id = o.source_id
    where o.organization_id = ${organizationId} and o.destination_id = ${destinationId}
    order by o.priority desc, o.delivery_id limit ${limit}`;
}

export async function removeWaiting(
  db: Queryable,
  { organizationId, destinationId }: WarehouseKey,
  deliveryIds: string[],
): Promise<void> {
  await sql(db).run`
    delete from outbox where organization_id = ${organizationId} and destination_id = ${destinationId}
      and delivery_id = any(${deliveryIds}::text[])`;
}

export type BatchStatus = 'open' | 'frozen' | 'uploading' | 'uploaded' | 'written' | 'failed';

export interface FileForm {
  fileFormat: FileFormat;
  compression: Compression;
  payloadColumn: PayloadColumn;
  fieldMapping: FieldMappingRule[] | null;
}

export interface BatchUnderWay extends FileForm {
  id: string;
  organizationId: string;
  destinationId: string;
  status: BatchStatus;
  key: string;
  keyOrder: KeyOrder;
  frozenAt: Date;
  firstDeliveryId: string;
  lastDeliveryId: string;
  waitingSince: Date;
  events: number;
  bytes: number;
  attempts: number;
  error: string | null;
  errorSummary: ErrorSummary | null;
  startedAt: Date | null;
  uploadedAt: Date | null;
  latency: number | null;
}

export const BATCH_COLUMNS = raw(`id, organization_id, destination_id, status, key, file_format, field_mapping,
  payload_column, compression, key_order, frozen_at, first_delivery_id, last_delivery_id, waiting_since, events, bytes,
  attempts, error, error_summary, started_at, uploaded_at, latency`);

/**
 * The oldest batch of a destination that is frozen and has not ended. At most one is being uploaded; those before it
 * were uploaded, and their deliveries are being recorded.
 * @param except the id of a batch that is being processed
 */
export async function findBatchUnderWay(
  db: Queryable,
  key: WarehouseKey,
  except = '',
): Promise<BatchUnderWay | undefined> {
  return sql(db).first<BatchUnderWay>`
    select ${BATCH_COLUMNS} from warehouse_batches b
    where organization_id = ${key.organizationId} and destination_id = ${key.destinationId}
      and status in ${raw(UNDER_WAY)} and id <> ${except}
    order by frozen_at limit 1`;
}

export async function findBatch(
  db: Queryable,
  { organizationId, batchId }: { organizationId: string; batchId: string },
): Promise<BatchUnderWay | undefined> {
  return sql(db).first<BatchUnderWay>`
    select ${BATCH_COLUMNS} from warehouse_batches b
    where organization_id = ${organizationId} and id = ${batchId}`;
}

export interface OpenBatch {
  id: string;
  /** When it started to fill, by the clock of the database. */
  openedAt: Date;
}

export async function openBatches(db: Queryable, key: WarehouseKey): Promise<Map<string, OpenBatch>> {
  const rows = await sql(db).rows<OpenBatch & { partition: string }>`
    select id, partition, created_at as opened_at from warehouse_batches
    where organization_id = ${key.organizationId} and destination_id = ${key.destinationId} and status = 'open'`;
  return new Map(rows.map(({ partition, ...batch }) => [partition, batch]));
}

/** Records the start of an upload. @returns undefined when the batch was uploaded, or has ended */
export async function beginUpload(
  db: Queryable,
  { organizationId, batchId }: { organizationId: string; batchId: string },
): Promise<BatchUnderWay | undefined> {
  return sql(db).first<BatchUnderWay>`
    update warehouse_batches b set status = 'uploading', attempts = attempts + 1, started_at = clock_timestamp()
    where organization_id = ${organizationId} and id = ${batchId} and status in ${raw(TO_UPLOAD)}
    returning ${BATCH_COLUMNS}`;
}

type Upload = Pick<BatchUnderWay, 'id' | 'attempts'>;

export interface WrittenFile {
  events: number;
  bytes: number;
  conversions: Conversion[];
  sha256: string;
  /** ms */
  latency: number;
  firstReceivedAt: Date | null;
  lastReceivedAt: Date | null;
}

/** Records that the object was written. @returns false when the upload was not the latest: a newer one decides */
export function noteUploaded(pool: Pool, batch: Upload & WarehouseKey, file: WrittenFile): Promise<boolean> {
  const { events, bytes, conversions, sha256, latency, firstReceivedAt, lastReceivedAt } = file;
  return inOrder(pool, batch, 'written', async (db, writtenAt) => {
    return sql(db).any`
      update warehouse_batches
      set status = 'uploaded', error = null, error_summary = null, events = ${events}, bytes = ${bytes},
          misfits = ${convertedCount(conversions)}, sha256 = ${sha256}, latency = ${latency},
          first_received_at = ${firstReceivedAt}, last_received_at = ${lastReceivedAt}, uploaded_at = ${writtenAt},
          conversions = ${jsonParameter(conversions)}::jsonb
      where id = ${batch.id} and attempts = ${batch.attempts} and status = 'uploading'`;
  });
}

/** Records the error of an upload. @param latency ms */
export async function noteUploadFailed(
  db: Queryable,
  { id, attempts }: Upload,
  { error, latency }: { error: DescribedError; latency: number },
): Promise<void> {
  await sql(db).run`
    update warehouse_batches set status = 'frozen', error = ${errorText(error.detail)}, latency = ${latency},
      error_summary = ${error.summary}
    where id = ${id} and attempts = ${attempts} and status = 'uploading'`;
}

export async function endBatch(
  db: Queryable,
  batchId: string,
  status: 'written' | 'failed',
  error: DescribedError | null = null,
): Promise<void> {
  const detail = error && errorText(error.detail);
  await sql(db).run`
    update warehouse_batches
    set status = ${status}, error = coalesce(${detail}, error), finished_at = clock_timestamp(),
        error_summary = case when ${detail}::text is null then error_summary else ${error?.summary} end
    where id = ${batchId} and status in ${raw(UNDER_WAY)}`;
}

export interface StoredDestination {
  id: string;
  version: number;
  organizationId: string;
  organization: string;
  enabled: boolean;
  type: string;
  config: string | null;
  fieldMapping: FieldMappingRule[] | null;
}

export async function findWarehouse(db: Queryable, key: WarehouseKey): Promise<StoredDestination | undefined> {
  return sql(db).first<StoredDestination>`
    select d.id, d.version, d.organization_id, o.slug as organization, d.enabled, d.type, d.config, d.field_mapping
    from destinations d join organizations o on o.id = d.organization_id
    where d.organization_id = ${key.organizationId} and d.id = ${key.destinationId}`;
}

// The order in which the files of a warehouse are frozen and written. Keys sort by the first, and loaders go by the
// second: a later file must have a later time, and nobody may see it before one with an earlier time. So anyone who
// freezes or writes a file of a destination takes the time after all others before it have committed. It is the time of
// the database's clock, or a ms after the latest of the destination: a clock that was set back changes nothing, nor
// does another server after a failover.

const LATEST = { frozen: raw('max(frozen_at)'), written: raw('max(uploaded_at)') };

/**
 * Runs a transaction with the next time of a destination's order.
 * @param time later than that of every file before, no matter who froze or wrote it
 */
export function inOrder<T>(
  pool: Pool,
  { organizationId, destinationId }: WarehouseKey,
  kind: keyof typeof LATEST,
  work: (db: Queryable, time: Date) => Promise<T>,
): Promise<T> {
  return inTransaction(pool, async (db) => {
    await sql(db).run`select pg_advisory_xact_lock(${LOCKS.warehouseOrder}, hashtext(${destinationId}))`;
    // A statement of its own: it has to see what was committed while it waited for the lock.
    const time = await sql(db).value<Date>`
      select greatest(date_trunc('milliseconds', clock_timestamp()), ${LATEST[kind]} + interval '1 millisecond')
      from warehouse_batches where organization_id = ${organizationId} and destination_id = ${destinationId}`;
    return work(db, time);
  });
}

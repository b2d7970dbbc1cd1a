import type { Conversion } from '../../core/warehouse/rows.ts';
import type { Compression, FileFormat } from '../../core/warehouse/files-and-keys.ts';
import type { BatchStatus, BatchUnderWay } from '../warehouse/batches.ts';
import type { WarehouseKey } from '../warehouse/flushes.ts';
import { inSnapshot, type Pool } from '../connections/pool.ts';
import { fragment, raw, sql } from '../connections/statements.ts';
import { countMatching, type Found, type Part, readPart } from '../sql/list-parts.ts';

type OfBatch = 'id' | 'status' | 'events' | 'bytes' | 'attempts' | 'error' | 'uploadedAt';

export interface BatchRecord extends Pick<BatchUnderWay, OfBatch> {
  partition: string;
  /** This and what follows: null while it fills. */
  key: string | null;
  fileFormat: FileFormat | null;
  compression: Compression | null;
  misfits: number | null;
  conversions: Conversion[] | null;
  sha256: string | null;
  firstReceivedAt: Date | null;
  lastReceivedAt: Date | null;
  createdAt: Date;
  frozenAt: Date | null;
  finishedAt: Date | null;
}

const COLUMNS = `
id, status, partition, key, file_format, compression, events, bytes, misfits, conversions, sha256, first_received_at,
last_received_at, attempts, error, created_at, frozen_at, uploaded_at, finished_at`;

type Batches = Omit<Found, 'ids'> & { batches: BatchRecord[] };

/** A part of a destination's batches, newest first. @param statuses none: all */
export function listBatches(
  pool: Pool,
  { organizationId, destinationId }: WarehouseKey,
  statuses: BatchStatus[] | null,
  part: Part,
): Promise<Batches> {
  const matching = fragment`
    from warehouse_batches where organization_id = ${organizationId} and destination_id = ${destinationId}
      and (${statuses}::text[] is null or status = any(${statuses}::text[]))`;
  return inSnapshot(pool, async (db) => {
    const { items, ...found } = await readPart(part, {
      total: () => countMatching(db, matching),
      items: (after, limit, offset) => sql(db).rows<BatchRecord>`
        select ${raw(COLUMNS)} ${matching} and (${after}::text is null or id < ${after})
        order by id desc limit ${limit} offset ${offset}`,
      cursorOf: ({ id }) => id,
    });
    return { batches: items, ...found };
  });
}

/** Whether a text is the cursor of a written file: its time in ms, which no other of its destination has. */
export const isWrittenCursor = (text: string): boolean => /^\d{1,15}$/.test(text);

/** A part of a destination's written files, in the order of writing (db/warehouse/batches.ts). */
export function listWrittenBatches(
  pool: Pool,
  { organizationId, destinationId }: WarehouseKey,
  writtenAfter: Date,
  part: Part,
): Promise<Batches> {
  const matching = fragment`
    from warehouse_batches where organization_id = ${organizationId} and destination_id = ${destinationId}
      and uploaded_at > ${writtenAfter}`;
  return inSnapshot(pool, async (db) => {
    const { items, ...found } = await readPart(part, {
      total: () => countMatching(db, matching),
      items(after, limit, offset) {
        const from = after === null ? null : new Date(Number(after));
        return sql(db).rows<BatchRecord>`
          select ${raw(COLUMNS)} ${matching} and (${from}::timestamptz is null or uploaded_at > ${from})
          order by uploaded_at limit ${limit} offset ${offset}`;
      },
      cursorOf: ({ uploadedAt }) => String(uploadedAt?.getTime()),
    });
    return { batches: items, ...found };
  });
}

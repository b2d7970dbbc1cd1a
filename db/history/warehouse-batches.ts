// Reads the batches of a warehouse destination for the API.
import type { Conversion } from '../../core/warehouse/conversions.ts';
import type { Compression, FileFormat } from '../../core/warehouse/object-key.ts';
import type { BatchStatus } from '../warehouse/batches.ts';
import type { WarehouseKey } from '../warehouse/flushes.ts';
import { inSnapshot, type Pool, type Queryable } from '../connections/pool.ts';
import { type Found, type Part, readPart } from './lists/part.ts';

export interface BatchRecord {
  id: string;
  status: BatchStatus;
  partition: string;
  /** This and what follows: null while it fills. */
  key: string | null;
  fileFormat: FileFormat | null;
  compression: Compression | null;
  events: number;
  bytes: number;
  misfits: number | null;
  /** Null in batches of the release before there were any. */
  conversions: Conversion[] | null;
  sha256: string | null;
  firstReceivedAt: Date | null;
  lastReceivedAt: Date | null;
  attempts: number;
  error: string | null;
  createdAt: Date;
  frozenAt: Date | null;
  uploadedAt: Date | null;
  finishedAt: Date | null;
}

const COLUMNS = `
id, status, partition, key, file_format as "fileFormat",
case when file_format is not null then coalesce(compression, 'none') end as compression, events, bytes, misfits, conversions, sha256,
first_received_at as "firstReceivedAt", last_received_at as "lastReceivedAt", attempts, error, created_at as "createdAt",
frozen_at as "frozenAt", uploaded_at as "uploadedAt", finished_at as "finishedAt"`;

type Batches = Omit<Found, 'ids'> & { batches: BatchRecord[] };

const OF_STATUS = `
from warehouse_batches where organization_id = $1 and destination_id = $2 and ($3::text[] is null or status = any($3))`;

/** A part of a destination's batches, newest first. @param statuses none: all */
export function listBatches(
  pool: Pool,
  { organizationId, destinationId }: WarehouseKey,
  statuses: BatchStatus[] | null,
  part: Part,
): Promise<Batches> {
  const values = [organizationId, destinationId, statuses];
  return inSnapshot(pool, async (db) => {
    const { items, ...found } = await readPart(part, {
      total: () => totalOf(db, OF_STATUS, values),
      async items(after, limit, offset) {
        const page = `${OF_STATUS} and ($4::text is null or id < $4) order by id desc limit $5 offset $6`;
        return (await db.query<BatchRecord>(`select ${COLUMNS} ${page}`, [...values, after, limit, offset])).rows;
      },
      cursorOf: ({ id }) => id,
    });
    return { batches: items, ...found };
  });
}

const WRITTEN = 'from warehouse_batches where organization_id = $1 and destination_id = $2 and uploaded_at > $3';

// Of the same ms are only batches that a release wrote which kept no order.
const CURSOR = /^(\d{1,15})-(bat_\w{26})$/;
export const isWrittenCursor = (text: string): boolean => CURSOR.test(text);

/** A part of a destination's written files, in the order of writing (db/warehouse/order.ts). */
export function listWrittenBatches(
  pool: Pool,
  { organizationId, destinationId }: WarehouseKey,
  writtenAfter: Date,
  part: Part,
): Promise<Batches> {
  const values = [organizationId, destinationId, writtenAfter];
  return inSnapshot(pool, async (db) => {
    const { items, ...found } = await readPart(part, {
      total: () => totalOf(db, WRITTEN, values),
      async items(after, limit, offset) {
        const [, at, id = ''] = CURSOR.exec(after ?? '') ?? [];
        const from = at === undefined ? null : new Date(Number(at));
        const page = `${WRITTEN} and ($4::timestamptz is null or uploaded_at >= $4 and (uploaded_at, id) > ($4, $5))
          order by uploaded_at, id limit $6 offset $7`;
        return (await db.query<BatchRecord>(`select ${COLUMNS} ${page}`, [...values, from, id, limit, offset])).rows;
      },
      cursorOf: ({ uploadedAt, id }) => `${uploadedAt?.getTime()}-${id}`,
    });
    return { batches: items, ...found };
  });
}

async function totalOf(db: Queryable, matching: string, values: unknown[]): Promise<number> {
  const { rows } = await db.query<{ total: number }>(`select count(*) as total ${matching}`, values);
  return rows[0]?.total ?? 0;
}

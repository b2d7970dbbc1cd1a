// Reads the batches of a warehouse destination for the API.
import type { BatchStatus } from '../warehouse/batches.ts';
import type { WarehouseKey } from '../warehouse/flushes.ts';
import { inSnapshot, type Pool } from '../connections/pool.ts';

export interface BatchRecord {
  id: string;
  status: BatchStatus;
  partition: string;
  /** Null while it fills. */
  key: string | null;
  events: number;
  bytes: number;
  misfits: number | null;
  sha256: string | null;
  attempts: number;
  error: string | null;
  createdAt: Date;
  frozenAt: Date | null;
  uploadedAt: Date | null;
  finishedAt: Date | null;
}

const WHERE = `
from warehouse_batches where organization_id = $1 and destination_id = $2 and ($3::text[] is null or status = any($3))`;

/** One page of a destination's batches, newest first, and how many there are. @param statuses none: all */
export async function listBatches(
  pool: Pool,
  { organizationId, destinationId }: WarehouseKey,
  statuses: BatchStatus[] | null,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ batches: BatchRecord[]; total: number }> {
  const values = [organizationId, destinationId, statuses];
  return inSnapshot(pool, async (db) => {
    const { rows: counts } = await db.query<{ total: number }>(`select count(*) as total ${WHERE}`, values);
    const { rows } = await db.query<BatchRecord>(
      `select id, status, partition, key, events, bytes, misfits, sha256, attempts, error, created_at as "createdAt",
              frozen_at as "frozenAt", uploaded_at as "uploadedAt", finished_at as "finishedAt"
       ${WHERE} order by id desc limit $4 offset $5`,
      [...values, limit, offset],
    );
    return { batches: rows, total: counts[0]?.total ?? 0 };
  });
}

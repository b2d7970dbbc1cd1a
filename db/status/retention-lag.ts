// How far retention is behind: by the oldest day that is still stored.
import { DAY_MS, daysBefore, type PartitionedTable } from '../retention/partitions.ts';
import type { Queryable } from '../connections/pool.ts';

export interface RetentionLag {
  /** Null: for ever. */
  keptDays: number | null;
  /** Days that should be gone; 0 when there is none. */
  lagDays: number;
}

/** @param keptDays null: for ever */
export async function retentionLag(
  db: Queryable,
  table: PartitionedTable,
  keptDays: number | null,
  nowMs: number,
): Promise<RetentionLag> {
  if (keptDays === null) return { keptDays, lagDays: 0 };
  const firstKept = Math.floor(nowMs / DAY_MS) - keptDays;
  const [oldest = firstKept] = await daysBefore(db, table, firstKept);
  return { keptDays, lagDays: firstKept - oldest };
}

// The destination of a delivery: which version it has now, and since when.
import type { Queryable } from '../connections/pool.ts';

export interface RecordVersion {
  version: number;
  updatedAt: Date;
}

/** Null: it was deleted. */
export async function destinationVersion(
  db: Queryable,
  organizationId: string,
  destinationId: string,
): Promise<RecordVersion | null> {
  const { rows } = await db.query<RecordVersion>(
    'select version, updated_at as "updatedAt" from destinations where organization_id = $1 and id = $2',
    [organizationId, destinationId],
  );
  return rows[0] ?? null;
}

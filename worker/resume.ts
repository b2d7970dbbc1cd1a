// Deliveries that continue from their recorded attempts: their workflow was lost, or has ended and the database does not know it
// (restored from a backup).
import { lookAfterQueued, type RepairDeps } from '../temporal-config/open-deliveries.ts';
import { type OutboxRow, removeQueued } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/connections/pool.ts';
import { resumePoints } from '../db/reconciliation/reconciliation.ts';
import type { ResumedDelivery } from '../core/delivery/resumed-delivery.ts';

/**
 * Finds the rows with recorded attempts, and how far they had come; undefined: the delivery is no longer open. Rows without an
 * attempt are missing: they start like new ones.
 */
export async function findResumed(pool: Pool, rows: OutboxRow[]): Promise<Map<OutboxRow, ResumedDelivery | undefined>> {
  const candidates = rows.filter((row) => row.resume === 'lost' || row.resume === 'ended');
  const points = await resumePoints(
    pool,
    candidates.map((row) => row.deliveryId),
  );
  return new Map(
    candidates.flatMap((row) => {
      const point = points.get(row.deliveryId);
      return point?.attempts === 0 ? [] : [[row, point] as const];
    }),
  );
}

/**
 * Starts the workflow of such a delivery. Its row is removed when Temporal has the workflow, or the delivery is no longer open.
 * @param start starts the workflow; false when it was started before
 */
export async function resumeDelivery(
  deps: RepairDeps,
  row: OutboxRow,
  point: ResumedDelivery | undefined,
  start: (resumed: ResumedDelivery) => Promise<boolean>,
): Promise<void> {
  const started = point === undefined || (await start(point));
  if (started || (await lookAfterQueued(deps, row))) await removeQueued(deps.pool, row);
}

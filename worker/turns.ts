// Deliveries whose workflow waits, in the outbox, for its turn under the rate limit of their destination (db/rate-limits.ts).
import { signalWorkflow } from '../activities/delivery-signals.ts';
import { type RepairDeps, repairOverdue } from '../activities/reconciliation/open-deliveries.ts';
import { type OutboxRow, removeQueued } from '../db/hot-path/claim.ts';

/**
 * Tells the workflow of a delivery that its turn has come. One without a workflow is put right, and claimed again.
 * @returns whether it was told
 * @throws when Temporal or the database is away
 */
export async function tellTurn(deps: RepairDeps, row: OutboxRow): Promise<boolean> {
  if (await signalWorkflow(deps.client, row.deliveryId, 'release')) return true;
  if ((await repairOverdue(deps, row)) === null) await removeQueued(deps.pool, row);
  return false;
}

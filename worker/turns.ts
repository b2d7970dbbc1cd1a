// Deliveries whose workflow waits, in the outbox, for its turn under the rate limit of their destination (db/rate-limits.ts).
import { isRefusal, signalWorkflow } from '../temporal-config/workflow-signals.ts';
import { type DeliveryRepair, type RepairDeps, repairOverdue } from '../temporal-config/open-deliveries.ts';
import { type OutboxRow, removeQueued } from '../db/hot-path/claim.ts';

/**
 * Tells the workflow of a delivery that its turn has come. One without a workflow is put right, and claimed again.
 * @returns whether it is to be looked after when it is not heard of
 * @throws when Temporal or the database is away
 */
export function tellTurn(deps: RepairDeps, row: OutboxRow): Promise<boolean> {
  return unlessRefused(deps, row, async () => {
    if (await signalWorkflow(deps.client, row.deliveryId, 'release')) return true;
    await repair(deps, row);
    return false;
  });
}

/**
 * Looks after one that was told and not heard of: its workflow may be late, or wait for something else since the database was
 * restored from a backup. @returns and @throws as when it is told
 */
export function tellTurnAgain(deps: RepairDeps, row: OutboxRow): Promise<boolean> {
  return unlessRefused(deps, row, async () => (await repair(deps, row)) === 'workflows told');
}

async function repair(deps: RepairDeps, row: OutboxRow): Promise<DeliveryRepair | null> {
  const repaired = await repairOverdue(deps, { ...row, mayAwaitTurn: true });
  if (repaired === null) await removeQueued(deps.pool, row);
  return repaired;
}

/** One workflow that Temporal refuses to tell keeps its place for a while, and does not keep others from being told. */
async function unlessRefused(
  { log }: RepairDeps,
  { deliveryId }: OutboxRow,
  tell: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await tell();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    log.warn({ deliveryId, error: String(error) }, 'its workflow cannot be told that its turn has come');
    return true;
  }
}

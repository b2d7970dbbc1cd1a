// Deliveries whose workflow waits, in the outbox, for its turn: under the rate limit of their destination
// (db/delivery/rate-limits.ts), for a place there (activities/attempt/place.ts), among the retries of their organization
// (activities/attempt/turn.ts), or until it is resumed (activities/attempt/suspended.ts).
import { causeOf } from '../core/process/log-cause.ts';
import { isRefusal, signalWorkflow } from '../temporal-config/workflow-signals.ts';
import { type DeliveryRepair, type RepairDeps, repairOverdue } from '../temporal-config/open-deliveries.ts';
import { type OutboxRow, removeQueued } from '../db/hot-path/claim.ts';

/**
 * Signals the workflow of a delivery that its turn has come. A delivery without a workflow is repaired and claimed again.
 * @returns whether to check the delivery again if no result comes
 * @throws when Temporal or the database is unreachable
 */
export function signalTurn(deps: RepairDeps, row: OutboxRow): Promise<boolean> {
  return unlessRefused(deps, row, async () => {
    if (await signalWorkflow(deps.client, row.deliveryId, 'release')) return true;
    await repair(deps, row);
    return false;
  });
}

/**
 * Signals again when no result has come: the workflow may be late, or wait for something else after the database was restored
 * from a backup. @returns and @throws as the first signal
 */
export function signalTurnAgain(deps: RepairDeps, row: OutboxRow): Promise<boolean> {
  return unlessRefused(deps, row, async () => {
    const repaired = await repair(deps, row);
    return repaired === 'workflows signalled' || repaired === 'at work';
  });
}

async function repair(deps: RepairDeps, row: OutboxRow): Promise<DeliveryRepair | 'at work' | null> {
  const repaired = await repairOverdue(deps, row);
  if (repaired === null) await removeQueued(deps.pool, row);
  return repaired;
}

/** A delivery whose signal Temporal refuses keeps its place for a while; others are still signalled. */
async function unlessRefused(
  { log }: RepairDeps,
  { deliveryId }: OutboxRow,
  signal: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await signal();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    log.warn({ deliveryId, cause: causeOf(error) }, 'its workflow cannot be signalled that its turn has come');
    return true;
  }
}

// Repairs open deliveries whose workflow does not continue: it is unknown to Temporal, was terminated there, or waits
// for a signal that will not come because the database was restored from a backup and is older than the workflow.
import type { Client } from '@temporalio/client';
import { openError, ownWords } from '../core/text/error-summary.ts';
import { isWarehouseId } from '../core/text/ids.ts';
import type { Log } from '../core/process/log.ts';
import { endDeliveries } from '../db/delivery/delivery-commands.ts';
import { type OutboxRow, removeQueued } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/connections/pool.ts';
import { isOpen, type OverdueDelivery, requeueDeliveries } from '../db/delivery/reconciliation.ts';
import { type Knowledge, lookUp, type Running, signalWorkflow } from './workflows.ts';

export interface RepairDeps {
  pool: Pool;
  client: Client;
  log: Log;
}

export type DeliveryRepair =
  | 'deliveries resumed'
  | 'deliveries started again'
  | 'deliveries failed'
  | 'workflows signalled';

type Ids = Pick<OverdueDelivery, 'deliveryId' | 'organizationId'>;

/**
 * The error of a delivery whose workflow was terminated or cancelled by an operator; `before` its first attempt had a
 * result, or later.
 */
const reason = (before: boolean) =>
  before
    ? ownWords`The workflow was terminated or cancelled in Temporal before the first attempt was recorded`
    : ownWords`The workflow was terminated or cancelled in Temporal before the next attempt`;

/**
 * A delivery that waits only for its workflow, and for too long.
 * @returns 'at work': its workflow waits for no signal
 */
export async function repairOverdue(
  deps: RepairDeps,
  delivery: OverdueDelivery,
): Promise<DeliveryRepair | 'at work' | null> {
  // Deliveries to warehouses have no workflow of their own.
  const known = isWarehouseId(delivery.destinationId)
    ? ({ state: 'unknown' } as const)
    : await lookUp(deps.client, delivery.deliveryId);
  switch (known.state) {
    case 'running':
      // When workers are late, signals would only add to their work. One that shows 'failed' has none to do.
      if (known.isBusy && known.shows !== 'failed') return 'at work';
      return (await tell(deps, delivery, known)) ? 'workflows signalled' : null;
    case 'stopped':
      return (await endLost(deps, delivery, false)) ? 'deliveries failed' : null;
    default:
      return requeue(deps, delivery, known);
  }
}

async function requeue(
  { pool }: RepairDeps,
  { deliveryId }: Ids,
  { state }: Knowledge,
): Promise<DeliveryRepair | null> {
  const resume = state === 'unknown' ? 'lost' : 'ended';
  const open = await requeueDeliveries(pool, [{ deliveryId, resume }]);
  if (!open.has(deliveryId)) return null;
  return resume === 'lost' ? 'deliveries resumed' : 'deliveries started again';
}

/**
 * Signals a workflow that waits for a replay or a release although its delivery is open and not held. The first kind
 * ends, and the next check restarts the delivery; the second makes its next attempt. A workflow shows what was recorded
 * before, so a delivery that is read as open afterwards is behind its workflow. Its status does not show turns, and
 * every delivery may wait for one: an unexpected release causes one extra check if it is held or queued later.
 */
async function tell({ pool, client }: RepairDeps, { deliveryId }: Ids, { shows }: Running): Promise<boolean> {
  if (shows === 'failed' && (await isOpen(pool, deliveryId))) return signalWorkflow(client, deliveryId, 'cancel');
  const awaitsTurn = shows === undefined || shows === 'retrying';
  return shows === 'circuit_open' || awaitsTurn ? signalWorkflow(client, deliveryId, 'release') : false;
}

async function endLost({ pool, log }: RepairDeps, delivery: Ids, before: boolean): Promise<boolean> {
  const { organizationId, deliveryId } = delivery;
  const ended = await endDeliveries(pool, 'failed', {
    organizationId,
    deliveryIds: [deliveryId],
    reason: openError(reason(before)),
  });
  if (ended.length > 0) log.warn({ deliveryId, reason: reason(before) }, 'delivery failed');
  return ended.length > 0;
}

/** One that Temporal does not know is claimed and started again; one that is no longer open leaves the outbox. */
export async function lookAfterQueued(deps: RepairDeps, row: OutboxRow): Promise<boolean> {
  const known = await lookUp(deps.client, row.deliveryId);
  if (known.state === 'unknown') return false;
  if (known.state === 'running') {
    if (known.shows === undefined) return true;
    // Past its first attempt: it continues by itself, or is signalled. After that it may queue for its turn again.
    await removeQueued(deps.pool, row);
    await tell(deps, row, known);
    return false;
  }
  const repaired =
    known.state === 'stopped' ? await endLost(deps, row, true) : (await requeue(deps, row, known)) !== null;
  if (!repaired) await removeQueued(deps.pool, row);
  return false;
}

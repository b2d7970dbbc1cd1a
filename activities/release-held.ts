// Releases held deliveries: a delivery with a workflow is signalled, any other goes (back) to the outbox.
import type { Client } from '@temporalio/client';
import { eachOf } from '../core/fairness/concurrency.ts';
import type { WorkflowPermits } from '../core/fairness/workflow-permits.ts';
import { endHold, type HeldDelivery } from '../db/circuits/held-deliveries.ts';
import type { Pool } from '../db/connections/pool.ts';
import { signalWorkflow } from '../temporal-config/workflows.ts';

export interface ReleaseDeps {
  pool: Pool;
  client: Client;
  workflowPermits: Pick<WorkflowPermits, 'acquire'>;
}

export const CONCURRENT_SIGNALS = 10;
// How long a release continues to ask for turns: meanwhile the circuit may open again, or a pause begin.
const ASK_FOR_MS = 1000;

/**
 * Each signal is a turn of the organization at Temporal; those without a workflow have theirs when the relay starts
 * them.
 * @returns how many were released, the first ones. The others are held on
 */
export async function releaseInTurn(
  deps: ReleaseDeps,
  organizationId: string,
  routeId: string,
  held: HeldDelivery[],
): Promise<number> {
  const until = performance.now() + ASK_FOR_MS;
  const released: HeldDelivery[] = [];
  let isOver = false;
  await eachOf(held, CONCURRENT_SIGNALS, async (each) => {
    if (isOver || performance.now() > until) return;
    if (!each.hasWorkflow || (await deps.workflowPermits.acquire(organizationId))) released.push(each);
    // The worker ends.
    else isOver = true;
  });
  await release(deps, routeId, released);
  return released.length;
}

/**
 * The workflow is signalled first and the row is removed afterwards: a crash in between repeats the signal, which is
 * harmless. A delivery whose workflow is gone goes through the outbox; the relay notices and ends it visibly.
 */
export async function release(deps: ReleaseDeps, routeId: string, held: HeldDelivery[]): Promise<void> {
  if (held.length === 0) return;
  const released: (HeldDelivery & { queue: boolean })[] = [];
  await eachOf(held, CONCURRENT_SIGNALS, async (each) => {
    const isTold = each.hasWorkflow && (await signalWorkflow(deps.client, each.deliveryId, 'release'));
    released.push({ ...each, queue: !isTold });
  });
  await endHold(deps.pool, routeId, released);
}

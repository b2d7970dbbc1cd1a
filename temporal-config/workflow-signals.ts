// Signals to the workflows of deliveries. PostgreSQL holds the state behind them, so a lost signal costs little.
import { type Client, isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { eachOf } from '../core/fairness/each-of.ts';
import type { ReplayedDelivery } from '../db/replay/replay.ts';

const DEADLINE_MS = 5000;
// The gRPC status INVALID_ARGUMENT.
const REFUSED = 3;

/** One signal to be sent. */
export type Send = () => Promise<unknown>;

/**
 * Signals the workflow with this id: of a delivery, or of a replay.
 * @returns false when it does not run (any more)
 * @throws when Temporal cannot be reached within 5 s
 */
export async function signalWorkflow(
  client: Client,
  id: string,
  name: 'retryNow' | 'cancel' | 'replay' | 'release',
  ...args: string[]
): Promise<boolean> {
  try {
    await client.connection.withDeadline(Date.now() + DEADLINE_MS, () =>
      client.workflow.getHandle(id).signal(name, ...args),
    );
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Whether Temporal refused a signal because of its workflow, for example when that has reached its signal limit. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && isGrpcServiceError(error.cause) && error.cause.code === REFUSED;
}

/** The signals to failed deliveries that wait for a replay, with the id of the delivery that replays them. */
export function replayedSignals(client: Client, replays: ReplayedDelivery[]): Send[] {
  return replays.flatMap(({ id, replacesFailed }) =>
    replacesFailed === null ? [] : [() => signalWorkflow(client, replacesFailed, 'replay', id)],
  );
}

/** Sends signals with limited concurrency. @throws when one cannot be sent; the others were sent all the same */
export async function sendAll(sends: Send[], concurrency: number): Promise<void> {
  await eachOf(sends, concurrency, (send) => send());
}

// Tells the workflows of deliveries what people decided. PostgreSQL has the decision already, except for `retryNow`.
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { Log } from '../core/log.ts';
import type { ReplayedDelivery } from '../db/replay.ts';

const DEADLINE_MS = 5000;
const CONCURRENT_SIGNALS = 10;

export interface Signals {
  /** Ends the wait before a delivery's next attempt. @returns false when its workflow does not run (any more) */
  retryNow(deliveryId: string): Promise<boolean>;
  /** Tells deliveries that they were cancelled; returns at once. One that cannot be told finds out at its next attempt. */
  cancelAll(deliveryIds: string[]): void;
  /** Tells failed deliveries, which wait for that, by which delivery they were replayed; returns at once. */
  replayedAll(replays: ReplayedDelivery[]): void;
  /** Waits until signals under way were sent. */
  close(): Promise<void>;
}

export function createSignals(client: Client, log: Log): Signals {
  const underWay = new Set<Promise<void>>();

  async function signal(
    deliveryId: string,
    name: 'retryNow' | 'cancel' | 'replay',
    ...args: string[]
  ): Promise<boolean> {
    try {
      // The workflow id of a delivery is the delivery's id.
      await client.connection.withDeadline(Date.now() + DEADLINE_MS, () =>
        client.workflow.getHandle(deliveryId).signal(name, ...args),
      );
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  // Failure policy: the database has the decision, so a signal that is lost only costs the workflow a later look.
  function inTurn(sends: (() => Promise<boolean>)[]): void {
    if (sends.length === 0) return;
    const next = sends.values();
    const work = async () => {
      for (const send of next) await send();
    };
    const sending = Promise.all(Array.from({ length: CONCURRENT_SIGNALS }, work))
      .then(() => undefined)
      .catch((error: unknown) => log.warn({ err: error }, 'deliveries could not be told what was decided'))
      .finally(() => underWay.delete(sending));
    underWay.add(sending);
  }

  return {
    retryNow: (deliveryId) => signal(deliveryId, 'retryNow'),
    cancelAll: (deliveryIds) => inTurn(deliveryIds.map((id) => () => signal(id, 'cancel'))),
    replayedAll: (replays) =>
      inTurn(
        replays.flatMap(({ id, replacesFailed }) =>
          replacesFailed === null ? [] : [() => signal(replacesFailed, 'replay', id)],
        ),
      ),
    async close() {
      await Promise.all(underWay);
    },
  };
}

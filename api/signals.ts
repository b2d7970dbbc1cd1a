// Tells the workflows of deliveries what people decided. PostgreSQL has the decision already, except for `retryNow`.
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { Log } from '../core/log.ts';

const DEADLINE_MS = 5000;
const CONCURRENT_SIGNALS = 10;

export interface Signals {
  /** Ends the wait before a delivery's next attempt. @returns false when its workflow does not run (any more) */
  retryNow(deliveryId: string): Promise<boolean>;
  /** Tells deliveries that they were cancelled; returns at once. One that cannot be told finds out at its next attempt. */
  cancelAll(deliveryIds: string[]): void;
  /** Waits until signals under way were sent. */
  close(): Promise<void>;
}

export function createSignals(client: Client, log: Log): Signals {
  const underWay = new Set<Promise<void>>();

  async function signal(deliveryId: string, name: 'retryNow' | 'cancel'): Promise<boolean> {
    try {
      // The workflow id of a delivery is the delivery's id.
      await client.connection.withDeadline(Date.now() + DEADLINE_MS, () =>
        client.workflow.getHandle(deliveryId).signal(name),
      );
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  async function cancelInTurn(ids: string[]): Promise<void> {
    const next = ids.values();
    const work = async () => {
      for (const id of next) await signal(id, 'cancel');
    };
    await Promise.all(Array.from({ length: CONCURRENT_SIGNALS }, work));
  }

  return {
    retryNow: (deliveryId) => signal(deliveryId, 'retryNow'),
    cancelAll(deliveryIds) {
      if (deliveryIds.length === 0) return;
      // Failure policy: the database has the decision, so a signal that is lost only costs the workflow a later look.
      const sending = cancelInTurn(deliveryIds)
        .catch((error: unknown) => log.warn({ err: error }, 'cancelled deliveries could not be told'))
        .finally(() => underWay.delete(sending));
      underWay.add(sending);
    },
    async close() {
      await Promise.all(underWay);
    },
  };
}

// Tells the workflows of deliveries and replays what people decided. PostgreSQL has decided already, except on `retryNow`.
import type { Client } from '@temporalio/client';
import { replayedSignals, type Send, sendAll, signalWorkflow } from '../temporal-config/workflow-signals.ts';
import { repairOverdue } from '../temporal-config/open-deliveries.ts';
import type { Log } from '../core/log.ts';
import type { Pool } from '../db/pool.ts';
import { makeDue, type OverdueDelivery } from '../db/reconciliation/reconciliation.ts';
import type { ReplayedDelivery } from '../db/replay/replay.ts';

const CONCURRENT_SIGNALS = 10;

export interface Signals {
  /**
   * Ends the wait before a delivery's next attempt. A workflow that Temporal has lost is started again for it.
   * @returns false when someone has ended the workflow (the delivery has failed then), or the delivery has ended meanwhile
   */
  retryNow(delivery: OverdueDelivery): Promise<boolean>;
  /**
   * Tells deliveries or replays that they were cancelled; returns at once. One that cannot be told finds out at its next
   * attempt or page.
   */
  cancelAll(ids: string[]): void;
  /** Tells failed deliveries, which wait for that, by which delivery they were replayed; returns at once. */
  replayedAll(replays: ReplayedDelivery[]): void;
  /** Waits until signals under way were sent. */
  close(): Promise<void>;
}

export function createSignals(client: Client, pool: Pool, log: Log): Signals {
  const underWay = new Set<Promise<void>>();

  // Failure policy: the database has the decision, so a signal that is lost only costs the workflow a later look.
  function inTurn(sends: Send[]): void {
    if (sends.length === 0) return;
    const sending = sendAll(sends, CONCURRENT_SIGNALS)
      .catch((error: unknown) => log.warn({ err: error }, 'workflows could not be told what was decided'))
      .finally(() => underWay.delete(sending));
    underWay.add(sending);
  }

  async function retryLost(delivery: OverdueDelivery): Promise<boolean> {
    await makeDue(pool, delivery);
    const repair = await repairOverdue({ client, pool, log }, delivery);
    return repair === 'deliveries resumed' || repair === 'deliveries started anew';
  }

  return {
    retryNow: async (delivery) =>
      (await signalWorkflow(client, delivery.deliveryId, 'retryNow')) || (await retryLost(delivery)),
    cancelAll: (ids) => inTurn(ids.map((id) => () => signalWorkflow(client, id, 'cancel'))),
    replayedAll: (replays) => inTurn(replayedSignals(client, replays)),
    async close() {
      await Promise.all(underWay);
    },
  };
}

// Signals workflows of deliveries and replays after a user action. PostgreSQL already holds the result of it, except
// for `retryNow`.
import type { Client } from '@temporalio/client';
import { type Log, throttled } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { makeDue, type OverdueDelivery } from '../../db/delivery/reconciliation.ts';
import type { ReplayedDelivery } from '../../db/replay/replay.ts';
import { repairOverdue } from '../../temporal-config/open-deliveries.ts';
import { replayedSignals, type Send, sendAll, signalWorkflow } from '../../temporal-config/workflows.ts';

const CONCURRENT_SIGNALS = 10;

export interface Signals {
  /**
   * Ends the wait before a delivery's next attempt. A workflow that Temporal has lost is started again for it.
   * @returns false when someone has ended the workflow (the delivery has failed then), or the delivery has ended
   * meanwhile
   */
  retryNow(delivery: OverdueDelivery): Promise<boolean>;
  /**
   * Signals deliveries or replays that they were cancelled; returns at once. A workflow that misses the signal finds
   * out at its next attempt or page.
   */
  cancelAll(ids: string[]): void;
  /**
   * Signals failed deliveries, which wait for a replay, with the id of the delivery that replays them; returns at once.
   */
  replayedAll(replays: ReplayedDelivery[]): void;
  /** Waits until pending signals were sent. */
  close(): Promise<void>;
}

export function createSignals(client: Client, pool: Pool, log: Log): Signals {
  const underWay = new Set<Promise<void>>();

  // Failure policy: the state is in the database, so after a lost signal the workflow only notices later.
  function inTurn(sends: Send[]): void {
    if (sends.length === 0) return;
    const sending = sendAll(sends, CONCURRENT_SIGNALS)
      .catch((error: unknown) =>
        throttled(log).warn({ cause: causeOf(error) }, 'failed to signal workflows after a cancellation or replay'),
      )
      .finally(() => underWay.delete(sending));
    underWay.add(sending);
  }

  async function retryLost(delivery: OverdueDelivery): Promise<boolean> {
    await makeDue(pool, delivery);
    const repair = await repairOverdue({ client, pool, log }, delivery);
    return repair === 'deliveries resumed' || repair === 'deliveries started again';
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

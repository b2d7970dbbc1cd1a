// Disagreements of PostgreSQL and Temporal, planted for the reconciliation to find.
import type { OwnHookyard } from '../hookyard.ts';
import type { Endpoint, Receiver } from '../receiver.ts';
import { forgetWorkflow, reconcileNow } from './reconcile.ts';
import { type DeliveryView, onceMore, type Records } from '../records.ts';
import { until } from '../until.ts';

/** A repair may take so long. */
export const REPAIRED_MS = 180_000;
const HOUR_MS = 3_600_000;
// Most of what is planted here is of workflows that made the first attempt; both lanes leave the same behind
// afterwards.
export const WORKFLOW = { HOOKYARD_LANE: 'workflow' };

export const arrivals = ({ requests }: Endpoint) => requests.map(({ headers }) => headers['x-hookyard-attempt']);

/** @param on what is started before the tests */
export function disagreements(on: () => { testInstance: OwnHookyard; records: Records; receiver: Receiver }) {
  const workflow = (id: string) => on().testInstance.temporal.workflow.getHandle(id);
  const statusOf = async (id: string) => (await workflow(id).describe()).status.name;

  const lose = (id: string) => forgetWorkflow(on().testInstance, id);

  async function waitingForRetry(
    answers: number[],
    fields: Parameters<Records['pipe']>[1] = {},
  ): Promise<{ endpoint: Endpoint; delivery: DeliveryView; source: { id: string } }> {
    const endpoint = on().receiver.endpoint(...answers);
    const destination = { retryPolicy: onceMore(5, HOUR_MS), ...fields.destination };
    const sent = await on().records.deliver(endpoint.url, '{"order":1}', 'retrying', { ...fields, destination });
    await until(
      'its workflow to wait',
      async () => (await on().records.workflowStatus(sent.delivery.id)) === 'RUNNING',
    );
    return { endpoint, delivery: sent.delivery, source: sent.source };
  }

  /** A delivery that has failed, and whose workflow waits for a replay. */
  async function parked(endpoint: Endpoint) {
    const sent = await on().records.deliver(endpoint.url, '{"order":1}', 'failed');
    await parkedWorkflow(sent.delivery.id);
    return sent;
  }

  const parkedWorkflow = (id: string) =>
    until('its workflow to be listed as failed', async () => {
      for await (const { workflowId } of on().testInstance.temporal.workflow.list({
        query: `DeliveryStatus = "failed" and ExecutionStatus = "Running" and WorkflowId = "${id}"`,
      })) {
        return workflowId === id;
      }
      return false;
    });

  /** Reconciles again and again until a delivery has ended. */
  const repairedUntil = (status: string, deliveryId: string) =>
    until(
      `the delivery to be ${status}`,
      async () => {
        await reconcileNow(on().testInstance);
        const delivery = await on().records.delivery(deliveryId);
        if (delivery.status !== status) throw new Error(`it is ${delivery.status} (${delivery.error})`);
        return delivery;
      },
      REPAIRED_MS,
    );

  return { workflow, statusOf, lose, waitingForRetry, parked, parkedWorkflow, repairedUntil };
}

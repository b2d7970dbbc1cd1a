// Starts the workflow of one delivery.
import { WorkflowExecutionAlreadyStartedError, type WorkflowStartOptions } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { summaryLine, workflowReference } from '../core/temporal/operator-markdown.ts';
import type { InstallationClient } from '../temporal-config/client.ts';
import { inTurnOf } from '../temporal-config/fairness.ts';
import type { OutboxRow } from '../db/hot-path/claim.ts';
import type { delivery } from '../workflows/delivery.ts';
import type { FirstAttempt } from '../workflows/messages.ts';
import type { ResumedDelivery } from '../core/delivery/resumed-delivery.ts';
import { TASK_QUEUE, withPrefix } from '../core/temporal/workflow-names.ts';
import {
  deliveryStatusAttribute,
  destinationIdAttribute,
  eventIdAttribute,
  organizationIdAttribute,
  routeIdAttribute,
  sourceIdAttribute,
} from '../core/temporal/search-attributes.ts';
import type { StartPolicy } from './start-policies.ts';

/**
 * `here`: its first task came back with the answer (eager start). `elsewhere`: any worker may get it. `before`: it was started
 * before, and nothing has changed.
 */
export type Started = 'here' | 'elsewhere' | 'before';

/**
 * Starts a delivery's workflow; it is named by the delivery's id, so a second start changes nothing.
 * @param options.first result of the first attempt, if it was already made
 * @param options.resumed its progress when its workflow was lost
 * @throws when Temporal cannot be reached or refuses
 */
export async function startDelivery(
  client: InstallationClient,
  row: OutboxRow,
  policy: StartPolicy,
  options: { quick: boolean; replayWindowMs: number; first?: FirstAttempt; resumed?: ResumedDelivery },
): Promise<Started> {
  const start: WorkflowStartOptions<typeof delivery> = {
    workflowId: row.deliveryId,
    taskQueue: TASK_QUEUE,
    // Never a second workflow, except for a delivery whose end this database is known to have missed
    // (db/reconciliation/reconciliation.ts).
    workflowIdReusePolicy: row.resume === 'ended' ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
    requestEagerStart: client.startsEagerly,
    ...inTurnOf(row.organizationId),
    args: [
      {
        organizationId: row.organizationId,
        eventId: row.eventId,
        deliveryId: row.deliveryId,
        retryPolicy: policy.retryPolicy,
        quick: options.quick,
        replayWindowMs: options.replayWindowMs,
        ...(options.first && { first: options.first }),
        ...(options.resumed && { resumed: options.resumed }),
      },
    ],
    staticSummary: summaryOf(policy),
    staticDetails:
      row.failoverOf === null
        ? undefined
        : `Failover: takes over from ${workflowReference(withPrefix(client.prefix, row.failoverOf), row.failoverOf)}, whose destination did not take the event.`,
    typedSearchAttributes: new TypedSearchAttributes([
      { key: organizationIdAttribute, value: row.organizationId },
      { key: sourceIdAttribute, value: row.sourceId },
      ...(row.routeId === null ? [] : [{ key: routeIdAttribute, value: row.routeId }]),
      { key: destinationIdAttribute, value: row.destinationId },
      { key: eventIdAttribute, value: row.eventId },
      // Set at the start, so that parked deliveries are counted at once: under load the workflow itself runs much later.
      ...(isParked(options) ? [{ key: deliveryStatusAttribute, value: 'failed' }] : []),
    ]),
  };
  try {
    const { eagerlyStarted } = await client.workflow.start<typeof delivery>('delivery', start);
    return eagerlyStarted ? 'here' : 'elsewhere';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'before';
    throw error;
  }
}

const isParked = ({ first, replayWindowMs }: { first?: FirstAttempt; replayWindowMs: number }) =>
  first?.status === 'failed' && replayWindowMs > 0;

/** A label of the delivery for operators: `Shop orders -> Acme CRM (route Orders to CRM)`. */
function summaryOf({ sourceName, destinationName, routeName }: StartPolicy): string {
  return summaryLine(`${sourceName} -> ${destinationName}${routeName === null ? '' : ` (route ${routeName})`}`);
}

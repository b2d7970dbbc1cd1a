// Deliveries and attempts as the API shows them.
// Rules: DLV-02 to DLV-12.
import { idTime, isId } from '../../core/ids.ts';
import { warehouseWorkflowId } from '../../core/workflow-names.ts';
import type { WorkflowLink } from '../../core/temporal-link.ts';
import type { AttemptRecord, DeliveryRecord } from '../../db/history/deliveries.ts';
import { isoTime } from '../records.ts';

// These ended before they began, or wait for their route's circuit to close.
const WITHOUT_WORKFLOW = ['skipped', 'schema_failed', 'circuit_open', 'failed_over'];

/** Whether there is a workflow to look at. In the express lane only what the first attempt left to do has one. */
function hasWorkflow({ status, attemptCount, lane }: DeliveryRecord): boolean {
  if (attemptCount === 0) return !WITHOUT_WORKFLOW.includes(status);
  if (lane === 'express' && attemptCount === 1) return ['retrying', 'failed'].includes(status);
  return true;
}

/** The workflow to look at: its own, or that of its warehouse while it waits for a file; null when there is none. */
function workflowOf(delivery: DeliveryRecord): string | null {
  if (!isId('dst_wh', delivery.destinationId)) return hasWorkflow(delivery) ? delivery.id : null;
  return delivery.status === 'pending' ? warehouseWorkflowId(delivery.destinationId) : null;
}

export function showDelivery(delivery: DeliveryRecord, link: WorkflowLink) {
  const workflowId = workflowOf(delivery);
  return {
    id: delivery.id,
    eventId: delivery.eventId,
    sourceId: delivery.sourceId,
    routeId: delivery.routeId,
    destinationId: delivery.destinationId,
    status: delivery.status,
    attemptCount: delivery.attemptCount,
    latency: delivery.latency,
    statusCode: delivery.statusCode,
    error: delivery.error,
    nextAttemptAt: isoTime(delivery.nextAttemptAt),
    deliveredAt: isoTime(delivery.deliveredAt),
    finishedAt: isoTime(delivery.finishedAt),
    createdAt: new Date(idTime(delivery.id)).toISOString(),
    failoverOf: delivery.failoverOf,
    replayOf: delivery.replayOf,
    lane: delivery.lane,
    batchId: delivery.batchId,
    workflowId,
    temporalUrl: workflowId === null ? null : link(workflowId),
  };
}

export function showAttempt(attempt: AttemptRecord) {
  return {
    ...timelineAttempt(attempt),
    error: attempt.error,
    requestHeaders: attempt.requestHeaders,
    responseHeaders: attempt.responseHeaders,
    responseBody: attempt.responseBody,
  };
}

/** An attempt in an event's timeline. */
export function timelineAttempt(attempt: AttemptRecord) {
  return {
    attemptNumber: attempt.attemptNumber,
    startedAt: attempt.startedAt.toISOString(),
    completedAt: attempt.completedAt.toISOString(),
    status: attempt.status,
    statusCode: attempt.statusCode,
    latency: attempt.latency,
  };
}

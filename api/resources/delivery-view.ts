// Deliveries and attempts as the API shows them (decisions, "Deliveries").
import { idTime } from '../../core/ids.ts';
import type { WorkflowLink } from '../../core/temporal-link.ts';
import type { AttemptRecord, DeliveryRecord } from '../../db/history/deliveries.ts';
import { isoTime } from '../records.ts';

export const DELIVERY_STATUSES = [
  'pending',
  'retrying',
  'circuit_open',
  'delivered',
  'failed',
  'failed_over',
  'schema_failed',
  'skipped',
  'cancelled',
] as const;

// These ended before they began.
const WITHOUT_WORKFLOW = ['skipped', 'schema_failed'];

export function showDelivery(delivery: DeliveryRecord, link: WorkflowLink) {
  const hasWorkflow = !WITHOUT_WORKFLOW.includes(delivery.status);
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
    workflowId: hasWorkflow ? delivery.id : null,
    temporalUrl: hasWorkflow ? link(delivery.id) : null,
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

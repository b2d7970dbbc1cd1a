// Counts attempts and ended deliveries, in memory, for the metrics and for issues.
import { idTime } from '../../core/text/ids.ts';
import {
  attemptDuration,
  attempts,
  type CodeClass,
  deliveriesFinished,
  deliveryLatency,
} from '../../core/metrics/deliveries.ts';
import type { AttemptResult, ChangedDelivery } from '../../db/hot-path/record-results.ts';
import { errorClass } from '../../outbound/http/send-errors.ts';
import type { SendResult } from '../../outbound/http/sender.ts';
import { type IssueSink, issueSubjects } from '../../core/messages/issues.ts';

const STATUS_CLASSES: readonly CodeClass[] = ['1xx', '2xx', '3xx', '4xx', '5xx'];
const FIRST = 1;

/** Counts an attempt that was made, recorded or not. */
export function countAttempt(sent: SendResult, outcome: AttemptResult['deliveryStatus'], attempt: number): void {
  attempts.add({ outcome, code_class: codeClass(sent), kind: attempt === FIRST ? 'first' : 'retry' });
  attemptDuration.observe({}, sent.latency / 1000);
}

function codeClass(sent: SendResult): CodeClass {
  if (sent.kind === 'error') return errorClass(sent.code);
  return STATUS_CLASSES[Math.floor(sent.statusCode / 100) - 1] ?? 'other';
}

/**
 * Counts what recording has ended. A result whose statement was committed and whose answer was lost is not counted.
 * @param changed by id, as `recordResults` returns them
 */
export function countRecorded(
  results: Iterable<AttemptResult>,
  changed: ReadonlyMap<string, Pick<ChangedDelivery, 'failedOver'>>,
): void {
  for (const result of results) {
    const delivery = changed.get(result.deliveryId);
    if (delivery === undefined) continue;
    const status = delivery.failedOver ? 'failed_over' : result.deliveryStatus;
    if (status === 'retrying') continue;
    deliveriesFinished.add({ status });
    if (status !== 'delivered') continue;
    deliveryLatency.observe({ lane: result.lane }, secondsUntil(result.completedAt, result.deliveryId));
  }
}

export function countWritten(deliveryIds: string[], completedAt: Date): void {
  deliveriesFinished.add({ status: 'delivered' }, deliveryIds.length);
  for (const id of deliveryIds) deliveryLatency.observe({ lane: 'warehouse' }, secondsUntil(completedAt, id));
}

/** The id of a delivery says when it was made, by the clock of the API. */
const secondsUntil = (at: Date, deliveryId: string): number => (at.getTime() - idTime(deliveryId)) / 1000;

/**
 * Counts recorded attempts in issues.
 * @param changed by id, as `recordResults` returns them; others were counted before
 */
export function countInIssues(
  issues: IssueSink,
  results: Iterable<{ organizationId: string; result: AttemptResult }>,
  changed: ReadonlyMap<string, Pick<ChangedDelivery, 'destinationId' | 'routeId' | 'failedOver'>>,
): void {
  for (const { organizationId, result } of results) {
    const { deliveryId, eventId, deliveryStatus, completedAt } = result;
    const delivery = changed.get(deliveryId);
    if (delivery === undefined) continue;
    const subject = issueSubjects.delivery(organizationId, delivery.routeId, delivery.destinationId);
    if (deliveryStatus === 'delivered') {
      issues.worked(subject);
      continue;
    }
    const isFinal = deliveryStatus === 'failed' && !delivery.failedOver;
    issues.failed(subject, { cause: causeOf(result), at: completedAt.getTime(), isFinal, eventId, deliveryId });
  }
}

// The causes of issues (docs/guide/issues-and-alerts.md).
const CAUSES: Record<ReturnType<typeof errorClass>, string> = {
  timeout: 'TIMEOUT',
  connection: 'CONNECTION_FAILED',
  dns: 'NAME_NOT_RESOLVED',
  tls: 'TLS_FAILED',
  refused: 'ADDRESS_REFUSED',
  other: 'NO_RESPONSE',
};

function causeOf({ statusCode, errorCode }: AttemptResult): string {
  if (statusCode !== null) return `HTTP_${statusCode}`;
  return errorCode === undefined ? CAUSES.other : CAUSES[errorClass(errorCode)];
}

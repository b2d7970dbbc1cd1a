// Tells of recorded attempts where issues are counted: in memory, some records per attempt.
// Rules: ISS-02.
import { type IssueSink, issueSubjects } from '../core/messages/issues.ts';
import type { AttemptResult, ChangedDelivery } from '../db/hot-path/record-results.ts';
import { errorClass } from '../outbound/http/send-errors.ts';

/** @param changed by id, as `recordResults` returns them; what did not change was told of before */
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

// The causes of issues (docs/issues.md).
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

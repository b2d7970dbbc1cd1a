// The span of an attempt, where traces are sent.
// Rules: TRC-03, TRC-07.
import type { Lane } from '../../core/delivery/lane.ts';
import type { AttemptSpan, EndedAttempt } from '../../core/process/tracing.ts';
import type { Verdict } from '../../core/delivery/verdict.ts';
import type { SendResult } from '../../outbound/http/sender.ts';
import type { AttemptRequest } from '../types.ts';
import type { Admitted } from './admission.ts';
import type { AttemptDeps } from './deps.ts';

/** @returns null when it is not recorded */
export function startSpan(
  { tracing }: AttemptDeps,
  { attempt: number }: AttemptRequest,
  { context, destination, headers }: Admitted,
  lane: Lane,
  startedAt: Date,
): AttemptSpan | null {
  if (!tracing) return null;
  const { traceparent, organizationId, eventId, routeId, destinationId, deliveryId, replayOf } = context;
  const ids = { organizationId, eventId, routeId, destinationId, deliveryId, replayOf };
  const { method, url } = destination;
  return tracing.attempt({ ...ids, traceparent, headers, number, lane, method, url, startedAt });
}

/** What a span says of an attempt that was made. @param tookMs until the end of its answer */
export function endedAttempt(sent: SendResult, verdict: Verdict, tookMs: number): EndedAttempt {
  return {
    tookMs,
    outcome: verdict.status,
    statusCode: sent.kind === 'response' ? sent.statusCode : null,
    error: verdict.error && { code: errorCode(sent), summary: verdict.error.summary },
    steps: sent.exchange,
  };
}

/** As the semantic conventions have it in `error.type`: the status, or what went wrong before there was one. */
function errorCode(sent: SendResult): string {
  if (sent.kind === 'error') return sent.code;
  const isGood = sent.statusCode >= 200 && sent.statusCode < 300;
  return isGood ? 'unexpected_response' : String(sent.statusCode);
}

import type { OutboundRequest } from '../../outbound/http/outbound-request.ts';
import type { Outcome } from '../../core/delivery/destination-concurrency.ts';
import { isNoAnswer } from '../../outbound/http/send-errors.ts';
import type { SendRequest, SendResult } from '../../outbound/http/sender.ts';
import type { DestinationConfig } from '../config-cache.ts';
import type { AttemptDeps } from './index.ts';
import type { Lane } from '../../core/delivery/delivery.ts';
import type { AttemptSpan, EndedAttempt } from '../../core/process/tracing.ts';
import type { Verdict } from '../../core/delivery/verdict.ts';
import type { AttemptRequest } from '../types.ts';
import type { Admitted } from './admission.ts';

// Statuses of a destination, or of a gateway before it, that has more requests than it copes with (RFC 9110, section
// 15.6; RFC 6585, section 4).
const OVERLOADED: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** A point in time, by the wall clock and by the monotonic clock. */
interface Moment {
  date: Date;
  clockMs: number;
}

export const now = (): Moment => ({ date: new Date(), clockMs: performance.now() });

export type SentAttempt = Awaited<ReturnType<typeof send>>;

/**
 * @returns `tookMs`: from its start to its end, ms with fractions
 * @throws when nothing was sent: the worker is shutting down, or there is no time left for an answer
 */
export async function send(
  { sender, concurrency }: Pick<AttemptDeps, 'sender' | 'concurrency'>,
  { id, timeoutMs }: DestinationConfig,
  outbound: OutboundRequest & Pick<SendRequest, 'organizationId' | 'lookFor'>,
  { date: startedAt, clockMs }: Moment,
) {
  const ended = concurrency.sending(id);
  const sent = await sender.send({ ...outbound, poolKey: id, timeoutMs }).catch((error: unknown) => {
    ended('unrelated');
    throw error;
  });
  ended(kindOf(sent));
  if (sent.kind === 'error' && sent.code === 'CLOSED') throw new Error('The worker is shutting down');
  // So a wall clock that is set back during the attempt cannot put its end before its start.
  const tookMs = performance.now() - clockMs;
  const completedAt = new Date(startedAt.getTime() + Math.round(tookMs));
  return { sent, startedAt, completedAt, tookMs };
}

function kindOf(sent: SendResult): Outcome {
  if (sent.kind === 'error') return isNoAnswer(sent.code) ? 'silent' : 'unrelated';
  return OVERLOADED.has(sent.statusCode) ? 'refused' : 'answered';
}

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

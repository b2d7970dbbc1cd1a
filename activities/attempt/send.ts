// Sends the request of an attempt.
import type { OutboundRequest } from '../../outbound/http/outbound-request.ts';
import type { Outcome } from '../../core/delivery/destination-places.ts';
import { isNoAnswer } from '../../outbound/http/send-errors.ts';
import type { SendRequest, SendResult } from '../../outbound/http/sender.ts';
import type { DestinationConfig } from '../config-cache.ts';
import type { AttemptDeps } from './deps.ts';

// Statuses of a destination, or of a gateway before it, that has more requests than it copes with (RFC 9110, section 15.6;
// RFC 6585, section 4).
const OVERLOADED: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** A point in time, by the wall clock and by the monotonic clock. */
interface Moment {
  date: Date;
  clockMs: number;
}

export const now = (): Moment => ({ date: new Date(), clockMs: performance.now() });

/** An attempt that was made. */
export interface SentAttempt {
  sent: SendResult;
  startedAt: Date;
  completedAt: Date;
  /** From its start to its end, ms with fractions. */
  tookMs: number;
}

/** @throws when nothing was sent: the worker is shutting down, or there is no time left for an answer */
export async function send(
  { sender, places }: Pick<AttemptDeps, 'sender' | 'places'>,
  { id, timeoutMs }: DestinationConfig,
  outbound: OutboundRequest & Pick<SendRequest, 'organizationId' | 'lookFor'>,
  { date: startedAt, clockMs }: Moment,
): Promise<SentAttempt> {
  const ended = places.sending(id);
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

// Sends the request of an attempt.
import type { OutboundRequest } from '../../outbound/http/outbound-request.ts';
import type { SendResult } from '../../outbound/http/sender.ts';
import type { DestinationConfig } from '../config-cache.ts';
import type { AttemptDeps } from './deps.ts';

/** A moment by the calendar, and by a clock that is never set. */
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
}

/** @throws when the worker is shutting down: nothing was sent */
export async function send(
  { sender, observeLatency }: Pick<AttemptDeps, 'sender' | 'observeLatency'>,
  { id, timeoutMs }: DestinationConfig,
  outbound: OutboundRequest,
  { date: startedAt, clockMs }: Moment,
): Promise<SentAttempt> {
  const sent = await sender.send({ ...outbound, poolKey: id, timeoutMs });
  if (sent.kind === 'error' && sent.code === 'CLOSED') throw new Error('The worker is shutting down');
  observeLatency(id, sent.latency);
  // So a clock that is set during the attempt does not end it before it began.
  const completedAt = new Date(startedAt.getTime() + Math.round(performance.now() - clockMs));
  return { sent, startedAt, completedAt };
}

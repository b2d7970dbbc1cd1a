// Recording an attempt that was made before and could not be recorded then, from the few facts that are left of it; and what
// the records say of an attempt.
import { latencyClass } from '../core/latency-classes.ts';
import { toldError } from '../core/told-error.ts';
import type { AttemptContext } from '../db/hot-path/load-attempts.ts';
import type { AttemptDeps } from './attempt.ts';
import { chooseFailover } from './failover.ts';
import type { RecordedOutcome, RecordRequest } from './types.ts';

export const OPEN = ['pending', 'retrying', 'circuit_open'];
export const CLOSED: RecordedOutcome = { status: 'closed', statusCode: null, error: null };

/**
 * Records an attempt that was made, unless that has been done.
 * @returns what it led to
 * @throws as long as the database does not take it
 */
export async function recordAttempt(
  deps: Pick<AttemptDeps, 'pool' | 'contexts' | 'configs' | 'results'>,
  { deliveryId, eventId, made }: RecordRequest,
): Promise<RecordedOutcome> {
  const reference = { deliveryId, eventId, attempt: made.attempt, retryDelay: null };
  const context = await deps.contexts.submit(reference);
  if (!context) return CLOSED;
  if (!OPEN.includes(context.status) || context.attemptCount >= made.attempt) return recordedOutcome(context);
  const { routeId, routeVersion } = context;
  const route = routeId === null || routeVersion === null ? null : await deps.configs.route(routeId, routeVersion);
  const { statusCode, error, latency, waitMs, deliveryStatus } = made;
  const failover =
    route === null || error === null
      ? null
      : await chooseFailover(deps.pool, route, context, {
          attempt: made.attempt,
          exhausted: deliveryStatus === 'failed',
          error,
        });
  await deps.results.submit({
    deliveryId,
    eventId,
    attemptNumber: made.attempt,
    deliveryStatus: failover === null ? deliveryStatus : 'failed_over',
    // The workflow has the delivery now, so it leaves the outbox with this.
    lane: 'workflow',
    failover,
    statusCode,
    error,
    latency,
    latencyClass: statusCode === null ? null : latencyClass(latency),
    startedAt: new Date(made.startedAt),
    completedAt: new Date(made.completedAt),
    retryInMs: failover === null ? waitMs : null,
    requestHeaders: {},
    responseHeaders: null,
    responseBody: null,
  });
  const recorded = await deps.contexts.submit(reference);
  return recorded ? recordedOutcome(recorded) : CLOSED;
}

/** The outcome of an attempt that is recorded, as its delivery tells it. */
export function recordedOutcome(context: AttemptContext): RecordedOutcome {
  const { status, statusCode } = context;
  const error = context.error === null ? null : toldError(context.error);
  if (status === 'delivered' || status === 'failed') return { status, statusCode, error };
  if (status === 'failed_over') return { status, statusCode, error, takenOverBy: null };
  if (!OPEN.includes(status)) return CLOSED;
  return { status: 'retrying', statusCode, error, waitMs: Math.max(0, Math.ceil(context.retryInMs ?? 0)) };
}

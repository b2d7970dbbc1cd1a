// How attempts end when they do not end with a recorded answer: the outcome is read from the record, recorded later
// from its summary, or the delivery ends without being sent.
import { isOpenStatus } from '../../core/delivery/delivery.ts';
import { type DescribedError, openError, ownWords } from '../../core/text/error-summary.ts';
import { latencyClass } from '../../core/metrics/latency-classes.ts';
import type { AttemptContext } from '../../db/hot-path/load-attempts.ts';
import type { AttemptDeps } from './index.ts';
import { offerFailover, orderKeyFor, routeOf } from './route.ts';
import { type AttemptResult, NOT_CAPTURED } from '../../db/hot-path/record-results.ts';
import type { AttemptOutcome, AttemptRequest, RecordedOutcome, RecordRequest, UnrecordedAttempt } from '../types.ts';
import { endDeliveries } from '../../db/delivery/delivery-commands.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { isRefusedValue, refusalOf } from '../../db/connections/database-errors.ts';

// All waits together: less than the deadline of the activity (workflows/delivery.ts). A result that is not recorded by
// then is retried, here and by the workflow.
const RECORD_LATER_MS = 20_000;

export const CLOSED: RecordedOutcome = { status: 'closed', statusCode: null, error: null };

/**
 * Records an attempt that was made, unless that has been done.
 * @returns its outcome
 * @throws while the database does not store it
 */
export async function recordAttempt(
  deps: Pick<AttemptDeps, 'contexts' | 'configs' | 'results'>,
  request: RecordRequest,
): Promise<RecordedOutcome> {
  const { organizationId, deliveryId, eventId, made } = request;
  const reference = { organizationId, deliveryId, eventId, attempt: made.attempt, retryDelay: null };
  const until = performance.now() + RECORD_LATER_MS;
  const inTime = (recorded: Promise<unknown>) => within(Math.max(0, until - performance.now()), recorded);
  // The process that made the attempt has the full result, and may still record it.
  const underWay = deps.results.underWay(deliveryId);
  if (underWay) await inTime(underWay.recorded);
  const context = await deps.contexts.submit(reference);
  if (!context) return CLOSED;
  if (!isOpenStatus(context.status) || context.attemptCount >= made.attempt) return recordedOutcome(context);
  const route = await routeOf(deps.configs, context);
  const { statusCode, latency, waitMs, deliveryStatus } = made;
  // The workflow has the summary only.
  const error = made.error === null ? null : openError(made.error);
  const failover =
    !route || error === null
      ? null
      : offerFailover(route, context, { attempt: made.attempt, exhausted: deliveryStatus === 'failed', error });
  if (deps.results.isFull()) throw new Error('The database is not accepting results');
  const { recorded } = deps.results.record(organizationId, {
    deliveryId,
    eventId,
    attemptNumber: made.attempt,
    deliveryStatus,
    // The workflow has the delivery now, so it leaves the outbox with this.
    lane: 'workflow',
    failover,
    orderKey: orderKeyFor(context),
    holdSeconds: made.holdSeconds ?? null,
    statusCode,
    error,
    latency,
    latencyClass: statusCode === null ? null : latencyClass(latency),
    startedAt: new Date(made.startedAt),
    completedAt: new Date(made.completedAt),
    retryInMs: waitMs,
    ...NOT_CAPTURED,
    exchange: null,
  });
  await inTime(recorded);
  return outcomeOnRecord(deps, reference);
}

export async function outcomeOnRecord(
  { contexts }: Pick<AttemptDeps, 'contexts'>,
  request: AttemptRequest,
): Promise<RecordedOutcome> {
  const context = await contexts.submit(request);
  return context ? recordedOutcome(context) : CLOSED;
}

/** The part of a result that a workflow may keep: no captured data, and no text that may hold content of a webhook. */
export function unrecordedOutcome(result: AttemptResult): UnrecordedAttempt {
  return {
    status: 'unrecorded',
    attempt: result.attemptNumber,
    deliveryStatus: result.deliveryStatus,
    statusCode: result.statusCode,
    error: result.error?.summary ?? null,
    latency: result.latency,
    startedAt: result.startedAt.toISOString(),
    completedAt: result.completedAt.toISOString(),
    waitMs: result.retryInMs,
    ...(result.holdSeconds != null && { holdSeconds: result.holdSeconds }),
  };
}

/** @throws when the promise is not settled in this time, ms, or before the worker ends */
export function within<T>(ms: number, promise: Promise<T>, ending?: AbortSignal): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('Not recorded in time')), ms);
  const onEnd = () => late.reject(new Error('Not recorded before the worker shut down'));
  ending?.addEventListener('abort', onEnd, { once: true });
  if (ending?.aborted) onEnd();
  return Promise.race([promise, late.promise]).finally(() => {
    clearTimeout(timer);
    ending?.removeEventListener('abort', onEnd);
  });
}

export function recordedOutcome(context: AttemptContext): RecordedOutcome {
  const { status, statusCode, error } = context;
  if (status === 'delivered' || status === 'failed') return { status, statusCode, error };
  if (status === 'failed_over') return { status, statusCode, error, takenOverBy: null };
  if (!isOpenStatus(status)) return CLOSED;
  return { status: 'retrying', statusCode, error, waitMs: Math.max(0, Math.ceil(context.retryInMs ?? 0)) };
}

export interface Ending {
  ending: 'cancelled' | 'failed' | 'skipped';
  reason: DescribedError;
}

export const SOURCE_DELETED = {
  ending: 'cancelled',
  reason: openError(ownWords`The event's source was deleted`),
} as const satisfies Ending;
export const DESTINATION_DELETED = {
  ending: 'cancelled',
  reason: openError(ownWords`The destination was deleted`),
} as const satisfies Ending;
export const DESTINATION_DISABLED = {
  ending: 'skipped',
  reason: openError(ownWords`The destination is disabled`),
} as const satisfies Ending;

export async function endWithoutAttempt(
  deps: AttemptDeps,
  context: AttemptContext,
  { ending, reason }: Ending,
): Promise<AttemptOutcome> {
  const { organizationId, deliveryId } = context;
  await endDeliveries(deps.pool, ending, { organizationId, deliveryIds: [deliveryId], reason });
  const { summary } = reason;
  deps.log.info(
    { deliveryId, eventId: context.eventId, status: ending, reason: summary },
    'delivery ended before its next attempt',
  );
  return ending === 'failed' ? { status: 'failed', statusCode: null, error: summary } : CLOSED;
}

/**
 * Runs a step of one delivery's attempt, or ends the delivery when PostgreSQL refuses a value of it: repeated for ever,
 * as other errors of our own infrastructure are, it would hold its slot.
 * @throws other errors of `step`. Also when the delivery cannot be ended: then its values are not the cause, since the
 * statement that ends it uses none of them
 */
export async function orEnd<Outcome>(
  { pool, contexts, log }: Pick<AttemptDeps, 'pool' | 'contexts' | 'log'>,
  request: AttemptRequest,
  step: () => Promise<Outcome>,
): Promise<Outcome | RecordedOutcome> {
  try {
    return await step();
  } catch (error) {
    if (!isRefusedValue(error)) throw error;
    const { deliveryId, eventId, attempt } = request;
    const context = await contexts.submit(request);
    if (!context) return CLOSED;
    const reason = ownWords`Attempt ${attempt} was aborted: ${refusalOf(error)}`;
    const { organizationId, statusCode } = context;
    await endDeliveries(pool, 'failed', { organizationId, deliveryIds: [deliveryId], reason: openError(reason) });
    log.error(
      { deliveryId, eventId, attempt, cause: causeOf(error) },
      'delivery ended: PostgreSQL rejected a value in the delivery',
    );
    return { status: 'failed', statusCode, error: reason };
  }
}

// One attempt of a delivery: requests it from an activity until it has been made, with all waits before it.
import { condition, proxyActivities, proxyLocalActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities, AttemptOutcome, AttemptRequest } from '../activities/types.ts';
import { ATTEMPT_TIMEOUT_MS } from '../core/delivery/attempt-times.ts';
import { retryDelay } from '../core/delivery/backoff.ts';
import { continueFrom, fromNow, isLong, type Run, showStatus } from './delivery-run.ts';
import * as texts from './delivery-texts.ts';
import { type Away, awayBy, ONCE, OWN_SIDE } from './own-side.ts';

// A worker that dies during an attempt is noticed after this time.
const HEARTBEAT_TIMEOUT_MS = 15_000;

/** An outcome after which the attempt has been made. */
export type MadeAttempt = Exclude<AttemptOutcome, { status: 'deferred' | 'held' }>;
type Deferral = Extract<AttemptOutcome, { status: 'deferred' }>;

/**
 * One attempt. A destination's failure is an outcome; a failed activity means that our own infrastructure is unavailable
 * (PostgreSQL, a worker), which does not count as an attempt: the same attempt is retried until it is recorded.
 * @returns null when a cancel arrived before it was made
 */
export async function attemptUntilRecorded(run: Run, attempt: number): Promise<MadeAttempt | null> {
  const { input, requests } = run;
  const request = requestOf(run, attempt);
  const first = attempt === 1 && input.resumeAt === undefined ? input.first : undefined;
  if (first?.status === 'deferred' && (await cancelledBeforeSlot(run, request, first))) return null;
  const { local, regular } = attemptActivities(attempt);
  for (let looks = 0, failures = 0; ; looks += 1) {
    const quick = input.quick && attempt === 1 && looks === 0;
    setCurrentDetails(texts.attempting(run, attempt));
    let outcome: AttemptOutcome;
    try {
      outcome = await (quick ? local : regular).attemptDelivery(request);
      failures = 0;
    } catch (error) {
      const away = awayBy(error, failures);
      if (requests.cancel || (await cancelledWhileAway(run, away))) return null;
      failures += 1;
      if (isLong()) await continueFrom(run, attempt, request);
      continue;
    }
    if (outcome.status === 'held') {
      if (await cancelledWhileHeld(run, request, outcome.pausedBy)) return null;
    } else if (outcome.status === 'deferred') {
      if (await cancelledBeforeSlot(run, request, outcome)) return null;
    } else return outcome;
    if (isLong()) await continueFrom(run, attempt, request);
  }
}

function requestOf({ input }: Run, attempt: number): AttemptRequest {
  const { organizationId, deliveryId, eventId, retryPolicy, resumeAt, carried } = input;
  const left = attempt === resumeAt ? carried : undefined;
  return {
    organizationId,
    deliveryId,
    eventId,
    attempt,
    retryDelay: attempt > retryPolicy.maxRetries ? null : retryDelay(retryPolicy, attempt, Math.random()),
    slotAt: left?.slotAt,
    queued: left?.queued,
  };
}

// The retry policy of a delivery is this file's own code, never an activity's.
function attemptActivities(attempt: number): { local: Activities; regular: Activities } {
  const options = { startToCloseTimeout: ATTEMPT_TIMEOUT_MS, retry: ONCE };
  return {
    local: proxyLocalActivities<Activities>(options),
    regular: proxyActivities<Activities>({
      ...options,
      heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
      summary: `Attempt ${attempt}`,
    }),
  };
}

/** The pause before an activity is retried. @returns whether a cancel came first */
async function cancelledWhileAway({ requests }: Run, { waitMs, details }: Away): Promise<boolean> {
  setCurrentDetails(details);
  await condition(() => requests.cancel, waitMs, { summary: OWN_SIDE });
  return requests.cancel;
}

/**
 * Waits for the slot that the destination's rate limit reserved; or, without a slot soon, for the relay's signal that one is; or
 * until the organization may run transforms again, or is no longer suspended.
 * @returns whether a cancel came first
 */
async function cancelledBeforeSlot(run: Run, request: AttemptRequest, deferral: Deferral) {
  const { waitMs, slotAt, queued } = deferral;
  const { view, requests } = run;
  view.nextAttemptAt = queued ? null : fromNow(waitMs);
  setCurrentDetails(texts.waiting(run, deferral));
  // `retryNow` makes it check whether its turn has come, or whether the delivery was ended.
  const isOver = () => requests.cancel || (queued === true && (requests.release || requests.retry));
  if (waitMs > 0) await condition(isOver, waitMs, { summary: texts.waitingSummary(deferral) });
  if (queued) Object.assign(requests, { release: false, retry: false });
  view.nextAttemptAt = null;
  Object.assign(request, { slotAt, queued, released: undefined });
  return requests.cancel;
}

/**
 * Waits until the route's circuit lets the delivery continue: as a probe, because it is closed, or to find that a failover
 * destination took over; or until what `pausedBy` names is resumed. @returns whether a cancel came first
 */
async function cancelledWhileHeld(
  run: Run,
  request: AttemptRequest,
  pausedBy?: 'route' | 'destination',
): Promise<boolean> {
  const { view, requests } = run;
  const before = view.status;
  view.status = 'circuit_open';
  showStatus(run, 'circuit_open');
  setCurrentDetails(pausedBy ? texts.paused(run, pausedBy) : texts.held(run));
  // A `release` that came before the outcome counts. An extra one only causes another check.
  await condition(() => requests.release || requests.cancel || requests.retry);
  request.released = requests.release;
  requests.release = false;
  requests.retry = false;
  view.status = before;
  return requests.cancel;
}

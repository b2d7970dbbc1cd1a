// One attempt of a delivery: requests it from an activity until it has been made, with all waits before it. And the
// state of one run of the workflow, with the requests of operators, the API and the route's circuit to it.
import {
  CancellationScope,
  condition,
  continueAsNew,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, AttemptOutcome, AttemptRequest } from '../activities/types.ts';
import { ATTEMPT_TIMEOUT_MS } from '../core/delivery/delivery.ts';
import { retryDelay } from '../core/delivery/backoff.ts';
import * as texts from './delivery-texts.ts';
import { type Away, awayBy, HEARTBEAT_TIMEOUT_MS, isLong, note, ONCE, OWN_SIDE } from './own-side.ts';
import type { delivery } from './delivery.ts';
import {
  cancel,
  type DeliveryInput,
  type DeliveryRequests,
  type DeliveryStatusView,
  release,
  replay,
  retryNow,
  status,
} from './signals-and-queries.ts';
import { deliveryStatusAttribute, eventIdAttribute } from '../core/temporal/names.ts';

export type MadeAttempt = Exclude<AttemptOutcome, { status: 'deferred' | 'held' }>;
type Deferral = Extract<AttemptOutcome, { status: 'deferred' }>;

/**
 * One attempt. A destination's failure is an outcome; a failed activity means that our own infrastructure is
 * unavailable (PostgreSQL, a worker), which does not count as an attempt: the same attempt is retried until it is
 * recorded.
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
 * Waits for the slot that the destination's rate limit reserved; or, without a slot soon, for the relay's signal that
 * one is; or until the organization may run transforms again, or is no longer suspended.
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
 * Waits until the route's circuit lets the delivery continue: as a probe, because it is closed, or to find that a
 * failover destination took over; or until what `pausedBy` names is resumed. @returns whether a cancel came first
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

export interface Run extends texts.Facts {
  input: DeliveryInput;
  requests: DeliveryRequests;
  /** What a cancellation request from outside cancels; the delivery itself runs in a scope that nothing interrupts. */
  scope: CancellationScope;
  shown?: string;
}

/** Whether it was started with search attributes. Without, its namespace may know none, and it must not set one. */
export function hasSearchAttributes(): boolean {
  return workflowInfo().typedSearchAttributes.get(eventIdAttribute) !== undefined;
}

export function showStatus(run: Run, value: string): void {
  run.shown = value;
  if (hasSearchAttributes()) upsertSearchAttributes([{ key: deliveryStatusAttribute, value }]);
}

/** @returns ISO 8601 */
export function fromNow(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}

/** Continues as new, before this attempt. Open requests are carried over. */
export function continueFrom({ input, requests }: Run, attempt: number, request?: AttemptRequest): Promise<never> {
  const { slotAt, queued } = request ?? {};
  return continueAsNew<typeof delivery>({ ...input, resumeAt: attempt, carried: { requests, slotAt, queued } });
}

/**
 * Sets the handlers of all signals and of the query; a cancellation request counts as the signal `cancel`.
 * @param before the open requests of the run before, when this one continues it
 * @returns the requests so far
 */
export function listen(view: DeliveryStatusView, before?: DeliveryRequests): DeliveryRequests {
  const requests: DeliveryRequests = { retry: false, cancel: false, replay: false, release: false, ...before };
  setHandler(status, () => view, { description: "The delivery's state, and what it is waiting for" });
  note(retryNow, requests, 'retry', 'Starts the next attempt now, if the delivery is waiting for a retry');
  note(cancel, requests, 'cancel', 'Cancels the delivery: no further attempts are made');
  const released = 'Sent by Hookyard when the delivery can continue; do not send this signal manually';
  note(release, requests, 'release', released);
  setHandler(
    replay,
    (replayedAs) => {
      requests.replay = true;
      // Anything else was typed into the Temporal UI and names no delivery; the workflow then creates one.
      requests.replayedAs = isDeliveryId(replayedAs) ? replayedAs : undefined;
    },
    { description: 'Replays a failed delivery as a new delivery; leave Data empty' },
  );
  CancellationScope.current().cancelRequested.catch(() => {
    requests.cancel = true;
  });
  return requests;
}

function isDeliveryId(data: unknown): data is string {
  return typeof data === 'string' && data.startsWith('dlv_');
}

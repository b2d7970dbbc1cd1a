// One delivery: attempt, wait, attempt again, until the destination has the event or the retry policy is exhausted.
// A failed delivery stays open for the replay window, so that an operator finds it and replays it from the Temporal UI.
import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, AttemptOutcome, AttemptRequest } from '../activities/types.ts';
import { retryDelay } from '../core/backoff.ts';
import {
  cancel,
  type DeliveryInput,
  type DeliveryResult,
  type DeliveryStatusView,
  release,
  replay,
  retryNow,
  status,
} from './messages.ts';
import { deliveryStatusAttribute } from './search-attributes.ts';

// What an attempt may take beyond the destination's own deadline: loading, and recording while PostgreSQL restarts.
const RECORDING_MARGIN_MS = 45_000;
// A worker that dies during an attempt is noticed after this time.
const HEARTBEAT_TIMEOUT_MS = 15_000;
const MAX_OWN_SIDE_WAIT_MS = 30_000;
// The retry policy of a delivery is this file's own code, never an activity's.
const once = { maximumAttempts: 1 };

const { cancelDelivery, replayDelivery } = proxyActivities<Activities>({ startToCloseTimeout: 30_000, retry: once });

/** An outcome after which the attempt is recorded. */
type MadeAttempt = Exclude<AttemptOutcome, { status: 'deferred' | 'held' }>;

/** What signals have asked for so far. */
interface Wishes {
  retry: boolean;
  cancel: boolean;
  replay: boolean;
  replayedAs: string | undefined;
  release: boolean;
}

/** One run of the workflow. */
interface Run {
  input: DeliveryInput;
  view: DeliveryStatusView;
  wishes: Wishes;
}

export async function delivery(input: DeliveryInput): Promise<DeliveryResult> {
  const run: Run = {
    input,
    view: initialView(input),
    wishes: { retry: false, cancel: false, replay: false, replayedAs: undefined, release: false },
  };
  listen(run);
  // Nothing below is interrupted half-way: a cancellation request is a wish like the signal `cancel`.
  const result = await CancellationScope.nonCancellable(() => deliver(run));
  if (result.status === 'cancelled' && CancellationScope.current().consideredCancelled) {
    throw new CancelledFailure('The delivery was cancelled');
  }
  return result;
}

function listen({ view, wishes }: Run): void {
  setHandler(status, () => view);
  setHandler(retryNow, () => {
    wishes.retry = true;
  });
  setHandler(cancel, () => {
    wishes.cancel = true;
  });
  setHandler(replay, (replayedAs) => {
    wishes.replay = true;
    wishes.replayedAs = replayedAs;
  });
  setHandler(release, () => {
    wishes.release = true;
  });
  CancellationScope.current().cancelRequested.catch(() => {
    wishes.cancel = true;
  });
}

async function deliver(run: Run): Promise<DeliveryResult> {
  const { view, wishes } = run;
  for (let attempt = view.attempts + 1; ; attempt += 1) {
    const outcome = madeBefore(run, attempt) ?? (await attemptUntilRecorded(run, attempt));
    if (outcome === null) return cancelled(run);
    view.attempts = attempt;
    view.lastError = outcome.error;
    view.lastStatusCode = outcome.statusCode;
    if (outcome.status === 'failed') return parked(run);
    if (outcome.status === 'failed_over') return takenOver(run, outcome.takenOverBy);
    if (outcome.status !== 'retrying') return finished(run, outcome.status);
    await waitForRetry(run, outcome.waitMs);
    if (wishes.cancel) return cancelled(run);
    await continueWhenLong(run);
  }
}

/** What the first attempt found, when the relay has made it. */
function madeBefore({ input }: Run, attempt: number): MadeAttempt | null {
  return attempt === 1 && input.first && input.first.status !== 'deferred' ? input.first : null;
}

/**
 * One attempt. A destination's failure is an outcome; an error means that our own side is away (PostgreSQL, a worker),
 * which costs the destination none of its attempts: the same attempt is made again until it is recorded.
 * @returns null when a cancel arrived while our own side was away
 */
async function attemptUntilRecorded(run: Run, attempt: number): Promise<MadeAttempt | null> {
  const { input, wishes } = run;
  const { retryPolicy } = input;
  const request: AttemptRequest = {
    deliveryId: input.deliveryId,
    eventId: input.eventId,
    attempt,
    retryDelay: attempt > retryPolicy.maxRetries ? null : retryDelay(retryPolicy, attempt, Math.random()),
  };
  if (attempt === 1 && input.first?.status === 'deferred') {
    if (await cancelledBeforeSlot(run, input.first.waitMs)) return null;
    request.slotAt = input.first.slotAt;
  }
  const startToCloseTimeout = input.timeoutMs + RECORDING_MARGIN_MS;
  const regular = proxyActivities<Activities>({
    startToCloseTimeout,
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
    retry: once,
    summary: `Attempt ${attempt}`,
  });
  const local = proxyLocalActivities<Activities>({ startToCloseTimeout, retry: once });
  for (let failures = 0; ; failures += 1) {
    const quick = input.quick && attempt === 1 && failures === 0;
    try {
      const outcome = await (quick ? local : regular).attemptDelivery(request);
      if (outcome.status === 'held') {
        if (await cancelledWhileHeld(run)) return null;
        continue;
      }
      if (outcome.status !== 'deferred') return outcome;
      if (await cancelledBeforeSlot(run, outcome.waitMs)) return null;
      request.slotAt = outcome.slotAt;
    } catch {
      if (wishes.cancel) return null;
      await pauseForOwnSide(failures);
      if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof delivery>({ ...input, resumeAt: attempt });
    }
  }
}

/** Waits for the slot that the destination's rate limit reserved. @returns whether a cancel came first */
async function cancelledBeforeSlot({ view, wishes }: Run, waitMs: number): Promise<boolean> {
  view.nextAttemptAt = new Date(Date.now() + waitMs).toISOString();
  setCurrentDetails(`The destination's rate limit lets the next attempt go at ${view.nextAttemptAt}.`);
  if (waitMs > 0) await condition(() => wishes.cancel, waitMs, { summary: 'Rate limit of the destination' });
  view.nextAttemptAt = null;
  return wishes.cancel;
}

/**
 * Waits until the route's circuit lets the delivery go on: as a probe, because it is closed, or to find that a failover
 * destination took over. @returns whether a cancel came first
 */
async function cancelledWhileHeld({ view, wishes }: Run): Promise<boolean> {
  const before = view.status;
  view.status = 'circuit_open';
  showStatus('circuit_open');
  setCurrentDetails(
    "Held: the circuit of its route is open, so nothing is sent to the route's destinations. It goes on when the circuit closes; see the workflow `circuit` of this RouteId. Signal `cancel` ends the delivery.",
  );
  // A `release` that came before the outcome did counts. One too many only leads to another look.
  await condition(() => wishes.release || wishes.cancel || wishes.retry);
  wishes.release = false;
  wishes.retry = false;
  view.status = before;
  return wishes.cancel;
}

async function waitForRetry({ input, view, wishes }: Run, waitMs: number): Promise<void> {
  const failure = `Attempt ${view.attempts} of ${view.maxAttempts} failed: ${view.lastError}`;
  view.status = 'retrying';
  view.nextAttemptAt = new Date(Date.now() + waitMs).toISOString();
  if (view.attempts === 1 || input.resumeAt !== undefined) showStatus('retrying');
  setCurrentDetails(
    `${failure}. Next attempt at ${view.nextAttemptAt}. Signal \`retryNow\` makes it now, signal \`cancel\` ends the delivery.`,
  );
  // A `retryNow` that arrived since the last wait counts: the API sends it as soon as PostgreSQL says `retrying`, which
  // may be before this workflow has heard of the outcome.
  if (waitMs > 0) {
    await condition(() => wishes.retry || wishes.cancel, waitMs, { summary: failure.slice(0, 200) });
  }
  wishes.retry = false;
  view.nextAttemptAt = null;
}

function finished({ view }: Run, ending: 'delivered' | 'cancelled' | 'closed'): DeliveryResult {
  const routine = ending === 'delivered' && view.attempts === 1;
  view.status = ending;
  if (!routine) {
    setCurrentDetails(`${ending} after ${view.attempts} of ${view.maxAttempts} attempts.`);
    showStatus(ending);
  }
  return { status: ending, attempts: view.attempts };
}

/** Another destination gets the event, by a delivery and a workflow of its own. */
function takenOver(run: Run, takenOverBy: string | null): DeliveryResult {
  const { view } = run;
  view.status = 'failed_over';
  setCurrentDetails(
    `Failed over after ${view.attempts} attempts: ${view.lastError}. ${takenOverBy ? `Taken over by delivery ${takenOverBy}.` : ''}`,
  );
  showStatus('failed_over');
  return { status: 'failed_over', attempts: view.attempts, ...(takenOverBy && { takenOverBy }) };
}

async function cancelled(run: Run): Promise<DeliveryResult> {
  const { organizationId, deliveryId } = run.input;
  await untilDone(() => cancelDelivery({ organizationId, deliveryId }));
  return finished(run, 'cancelled');
}

/** Failed for good: open until it is replayed or cancelled, or the replay window ends. */
async function parked({ input, view, wishes }: Run): Promise<DeliveryResult> {
  const failure = `Failed after ${view.attempts} of ${view.maxAttempts} attempts: ${view.lastError}`;
  const { organizationId, deliveryId, replayWindowMs } = input;
  view.status = 'failed';
  showStatus('failed');
  setCurrentDetails(
    `${failure}. Signal \`replay\` delivers it again as a new delivery, signal \`cancel\` closes this one.`,
  );
  if (replayWindowMs > 0) {
    await condition(() => wishes.replay || wishes.cancel, replayWindowMs, { summary: 'Open for a replay' });
  }
  if (!wishes.replay) throw ApplicationFailure.nonRetryable(failure, 'DeliveryFailed');
  const replayedAs = wishes.replayedAs ?? (await untilDone(() => replayDelivery({ organizationId, deliveryId })));
  setCurrentDetails(`${failure}. ${replayedAs ? `Replayed as ${replayedAs}` : 'It could not be replayed any more'}.`);
  return { status: 'failed', attempts: view.attempts, replayedAs };
}

/** A long outage fills the history; the delivery then goes on in a new run with the same id. */
async function continueWhenLong({ input, view }: Run): Promise<void> {
  if (!workflowInfo().continueAsNewSuggested) return;
  await continueAsNew<typeof delivery>({ ...input, resumeAt: view.attempts + 1 });
}

/** Repeats a step that only our own side can fail. */
async function untilDone<T>(step: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await step();
    } catch {
      await pauseForOwnSide(failures);
    }
  }
}

async function pauseForOwnSide(failures: number): Promise<void> {
  const wait = Math.min(MAX_OWN_SIDE_WAIT_MS, 1000 * 2 ** failures);
  setCurrentDetails(`Hookyard cannot reach its database or a worker at the moment; trying again in ${wait / 1000} s.`);
  await sleep(wait, { summary: 'Waiting for our own side' });
}

function showStatus(value: string): void {
  upsertSearchAttributes([{ key: deliveryStatusAttribute, value }]);
}

function initialView(input: DeliveryInput): DeliveryStatusView {
  return {
    deliveryId: input.deliveryId,
    status: input.resumeAt === undefined ? 'pending' : 'retrying',
    attempts: (input.resumeAt ?? 1) - 1,
    maxAttempts: input.retryPolicy.maxRetries + 1,
    lastError: null,
    lastStatusCode: null,
    nextAttemptAt: null,
  };
}

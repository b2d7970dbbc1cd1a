// One delivery: attempt, wait, attempt again, until the destination has the event or the retry policy is exhausted.
// A failed delivery stays open for the replay window, so that an operator finds it and replays it from the Temporal UI.
import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  Activities,
  AttemptOutcome,
  AttemptRequest,
  RecordedOutcome,
  UnrecordedAttempt,
} from '../activities/types.ts';
import { retryDelay } from '../core/backoff.ts';
import { listen, type Wishes } from './delivery-signals.ts';
import * as texts from './delivery-texts.ts';
import type { DeliveryInput, DeliveryResult, DeliveryStatusView, ResumedDelivery } from './messages.ts';
import { deliveryStatusAttribute, destinationIdAttribute, routeIdAttribute } from './search-attributes.ts';

// What an attempt may take beyond the destination's own deadline: loading, and recording while PostgreSQL restarts.
const RECORDING_MARGIN_MS = 45_000;
// A worker that dies during an attempt is noticed after this time.
const HEARTBEAT_TIMEOUT_MS = 15_000;
const MAX_OWN_SIDE_WAIT_MS = 30_000;
// The retry policy of a delivery is this file's own code, never an activity's.
const once = { maximumAttempts: 1 };

const { cancelDelivery, replayDelivery } = proxyActivities<Activities>({ startToCloseTimeout: 30_000, retry: once });

// The database may be away for as long as it likes: an activity that is tried again adds nothing to the history.
const { recordAttempt } = proxyActivities<Activities>({
  startToCloseTimeout: 30_000,
  retry: { maximumInterval: 30_000 },
  summary: 'Recording an attempt that was made',
});

/** An outcome after which the attempt has been made. */
type MadeAttempt = Exclude<AttemptOutcome, { status: 'deferred' | 'held' }>;

/** One run of the workflow. */
interface Run extends texts.Facts {
  input: DeliveryInput;
  wishes: Wishes;
  /** What a cancellation request from outside cancels; the delivery itself runs in a scope that nothing interrupts. */
  scope: CancellationScope;
  /** DeliveryStatus as it was set last. */
  shown?: string;
}

// Every promise of workflow code costs the worker a stack trace (worker/lean-sandbox.ts), so what all deliveries run through
// makes few: this function is not async, and only a delivery that resumes waits for what comes before an attempt.
export function delivery(input: DeliveryInput): Promise<DeliveryResult> {
  const view = initialView(input);
  const run: Run = {
    input,
    view,
    wishes: listen(view),
    scope: CancellationScope.current(),
    // Looked up when a text needs it: an ordinary delivery needs none of it.
    get belongs() {
      return belongings(input);
    },
  };
  // Nothing below is interrupted half-way: a cancellation request is a wish like the signal `cancel`.
  return CancellationScope.nonCancellable(() => deliver(run));
}

async function deliver(run: Run): Promise<DeliveryResult> {
  const { input, view, wishes } = run;
  // Where a history was cut later, the run goes on from there.
  if (input.resumed && input.resumeAt === undefined && (await cancelledBeforeResuming(run, input.resumed))) {
    return cancelled(run);
  }
  for (let attempt = view.attempts + 1; ; attempt += 1) {
    const made = madeBefore(run, attempt) ?? (await attemptUntilRecorded(run, attempt));
    if (made === null) return cancelled(run);
    const outcome = made.status === 'unrecorded' ? await recordedLater(run, made) : made;
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

/** A delivery whose workflow was lost waits for the rest of the time until its next attempt. @returns whether a cancel came */
async function cancelledBeforeResuming(run: Run, resumed: ResumedDelivery): Promise<boolean> {
  const { view, wishes } = run;
  view.lastError = resumed.error;
  view.lastStatusCode = resumed.statusCode;
  showStatus(run, 'retrying');
  await waitForRetry(run, resumed.waitMs);
  return wishes.cancel;
}

/** What the first attempt found, when the relay has made it. */
function madeBefore({ input }: Run, attempt: number): MadeAttempt | null {
  return attempt === 1 && input.first && input.first.status !== 'deferred' ? input.first : null;
}

/** The destination has the event, so only the result of the attempt is left to be dealt with, however long that takes. */
async function recordedLater(run: Run, made: UnrecordedAttempt): Promise<RecordedOutcome> {
  const { deliveryId, eventId } = run.input;
  setCurrentDetails(texts.recording(run, made));
  return recordAttempt({ deliveryId, eventId, made });
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
    recordsLater: true,
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
    setCurrentDetails(texts.attempting(run, attempt));
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
async function cancelledBeforeSlot(run: Run, waitMs: number): Promise<boolean> {
  const { view, wishes } = run;
  view.nextAttemptAt = fromNow(waitMs);
  setCurrentDetails(texts.waitingForSlot(run));
  if (waitMs > 0) await condition(() => wishes.cancel, waitMs, { summary: 'Rate limit of the destination' });
  view.nextAttemptAt = null;
  return wishes.cancel;
}

/**
 * Waits until the route's circuit lets the delivery go on: as a probe, because it is closed, or to find that a failover
 * destination took over. @returns whether a cancel came first
 */
async function cancelledWhileHeld(run: Run): Promise<boolean> {
  const { view, wishes } = run;
  const before = view.status;
  view.status = 'circuit_open';
  showStatus(run, 'circuit_open');
  setCurrentDetails(texts.held(run));
  // A `release` that came before the outcome did counts. One too many only leads to another look.
  await condition(() => wishes.release || wishes.cancel || wishes.retry);
  wishes.release = false;
  wishes.retry = false;
  view.status = before;
  return wishes.cancel;
}

async function waitForRetry(run: Run, waitMs: number): Promise<void> {
  const { view, wishes } = run;
  view.status = 'retrying';
  view.nextAttemptAt = fromNow(waitMs);
  showRetrying(run);
  setCurrentDetails(texts.retrying(run));
  // A `retryNow` that arrived since the last wait counts: the API sends it as soon as PostgreSQL says `retrying`, which
  // may be before this workflow has heard of the outcome.
  if (waitMs > 0) {
    await condition(() => wishes.retry || wishes.cancel, waitMs, { summary: texts.retrySummary(run) });
  }
  wishes.retry = false;
  view.nextAttemptAt = null;
}

function showRetrying(run: Run): void {
  const { view, input, shown } = run;
  if (view.attempts === 1 && !input.resumed) showStatus(run, 'retrying');
  else if (input.resumeAt !== undefined) showStatus(run, 'retrying');
  else if (shown === 'circuit_open' && patched('retrying-after-a-hold')) showStatus(run, 'retrying');
}

function finished(run: Run, ending: 'delivered' | 'cancelled' | 'closed'): DeliveryResult {
  const { view, scope } = run;
  const routine = ending === 'delivered' && view.attempts === 1;
  view.status = ending;
  setCurrentDetails(texts.ended(run, ending));
  if (!routine) showStatus(run, ending);
  // Shown as cancelled in Temporal when it was cancelled there.
  if (ending === 'cancelled' && scope.consideredCancelled) throw new CancelledFailure('The delivery was cancelled');
  return { status: ending, attempts: view.attempts };
}

/** Another destination gets the event, by a delivery and a workflow of its own. */
function takenOver(run: Run, takenOverBy: string | null): DeliveryResult {
  const { view } = run;
  view.status = 'failed_over';
  setCurrentDetails(texts.failedOver(run, takenOverBy));
  showStatus(run, 'failed_over');
  return { status: 'failed_over', attempts: view.attempts, ...(takenOverBy && { takenOverBy }) };
}

async function cancelled(run: Run): Promise<DeliveryResult> {
  const { organizationId, deliveryId } = run.input;
  await untilDone(() => cancelDelivery({ organizationId, deliveryId }));
  return finished(run, 'cancelled');
}

/** Failed for good: open until it is replayed or cancelled, or the replay window ends. */
async function parked(run: Run): Promise<DeliveryResult> {
  const { input, view, wishes } = run;
  const { organizationId, deliveryId, replayWindowMs } = input;
  view.status = 'failed';
  showStatus(run, 'failed');
  setCurrentDetails(texts.failed(run, fromNow(replayWindowMs)));
  if (replayWindowMs > 0) {
    const summary = texts.failedSummary(run);
    await condition(() => wishes.replay || wishes.cancel, replayWindowMs, { summary });
  }
  if (!wishes.replay) throw ApplicationFailure.nonRetryable(texts.failureReason(run), 'DeliveryFailed');
  const replayedAs = wishes.replayedAs ?? (await untilDone(() => replayDelivery({ organizationId, deliveryId })));
  setCurrentDetails(texts.replayed(run, replayedAs));
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

function showStatus(run: Run, value: string): void {
  run.shown = value;
  upsertSearchAttributes([{ key: deliveryStatusAttribute, value }]);
}

function fromNow(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}

/** The search attributes of its start say what it belongs to. */
function belongings({ eventId }: DeliveryInput): texts.Belongings {
  const { typedSearchAttributes } = workflowInfo();
  return {
    eventId,
    routeId: typedSearchAttributes.get(routeIdAttribute),
    destinationId: typedSearchAttributes.get(destinationIdAttribute),
  };
}

function initialView(input: DeliveryInput): DeliveryStatusView {
  return {
    deliveryId: input.deliveryId,
    status: input.resumeAt === undefined && !input.resumed ? 'pending' : 'retrying',
    attempts: input.resumeAt === undefined ? (input.resumed?.attempts ?? 0) : input.resumeAt - 1,
    maxAttempts: input.retryPolicy.maxRetries + 1,
    lastError: null,
    lastStatusCode: null,
    nextAttemptAt: null,
  };
}

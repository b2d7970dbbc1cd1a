// One delivery: attempt, wait, attempt again, until the destination has the event or the retry policy is exhausted.
// A failed delivery stays open for the replay window, so that an operator finds it and replays it from the Temporal UI.
import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  proxyActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, RecordedOutcome, UnrecordedAttempt } from '../activities/types.ts';
import {
  attemptUntilRecorded,
  continueFrom,
  fromNow,
  hasSearchAttributes,
  listen,
  type MadeAttempt,
  type Run,
  showStatus,
} from './delivery-attempt.ts';
import * as texts from './delivery-texts.ts';
import type { DeliveryInput, DeliveryResult, DeliveryStatusView } from './signals-and-queries.ts';
import { isLong, UNTIL_DONE } from './own-side.ts';
import type { ResumedDelivery } from '../core/delivery/delivery.ts';
import { destinationIdAttribute, prefixOf, routeIdAttribute } from '../core/temporal/names.ts';

// Jitter, as a part of the window, so that deliveries that failed in one outage do not all close at the same moment.
const WINDOW_JITTER = 0.1;

const { cancelDelivery, replayDelivery } = proxyActivities<Activities>({
  startToCloseTimeout: 30_000,
  retry: UNTIL_DONE,
});

const { recordAttempt } = proxyActivities<Activities>({
  startToCloseTimeout: 30_000,
  retry: UNTIL_DONE,
  summary: 'Record a finished attempt',
});

// Every promise of workflow code costs the worker a stack trace, so the common path creates few: this
// function is not async, and only a delivery that resumes waits for what comes before an attempt.
export function delivery(input: DeliveryInput): Promise<DeliveryResult> {
  const view = initialView(input);
  const run: Run = {
    input,
    view,
    requests: listen(view, input.carried?.requests),
    scope: CancellationScope.current(),
    // Computed only when a text needs it: ordinary deliveries do not.
    get belongs() {
      return belongings(input);
    },
  };
  // Nothing below is interrupted half-way: a cancellation request counts as the signal `cancel`.
  return CancellationScope.nonCancellable(() => deliver(run));
}

async function deliver(run: Run): Promise<DeliveryResult> {
  const { input, view, requests } = run;
  // After a continue-as-new the run continues from there.
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
    if (outcome.status === 'failed') return parked(run, windowOf(run, outcome.parked));
    if (outcome.status === 'failed_over') return takenOver(run, outcome.takenOverBy);
    if (outcome.status !== 'retrying') return finished(run, outcome.status);
    await waitForRetry(run, outcome.waitMs);
    if (requests.cancel) return cancelled(run);
    if (isLong()) await continueFrom(run, attempt + 1);
  }
}

/**
 * A delivery whose workflow was lost waits for the rest of the time until its next attempt.
 * @returns whether a cancel came
 */
async function cancelledBeforeResuming(run: Run, resumed: ResumedDelivery): Promise<boolean> {
  const { view, requests } = run;
  view.lastError = resumed.error;
  view.lastStatusCode = resumed.statusCode;
  showStatus(run, 'retrying');
  await waitForRetry(run, resumed.waitMs);
  return requests.cancel;
}

/** The result of the first attempt, if the relay made it. */
function madeBefore({ input }: Run, attempt: number): MadeAttempt | null {
  return attempt === 1 && input.first && input.first.status !== 'deferred' ? input.first : null;
}

/** The destination has the event, so only the result has to be recorded, however long that takes. */
async function recordedLater(run: Run, made: UnrecordedAttempt): Promise<RecordedOutcome> {
  const { organizationId, deliveryId, eventId } = run.input;
  setCurrentDetails(texts.recording(run, made));
  return recordAttempt({ organizationId, deliveryId, eventId, made });
}

async function waitForRetry(run: Run, waitMs: number): Promise<void> {
  const { view, requests } = run;
  view.status = 'retrying';
  view.nextAttemptAt = fromNow(waitMs);
  showRetrying(run);
  setCurrentDetails(texts.retrying(run));
  // A `retryNow` that arrived since the last wait counts: the API sends it as soon as PostgreSQL says `retrying`, which
  // may be before this workflow gets the outcome.
  if (waitMs > 0) {
    await condition(() => requests.retry || requests.cancel, waitMs, { summary: texts.retrySummary(run) });
  }
  requests.retry = false;
  view.nextAttemptAt = null;
}

function showRetrying(run: Run): void {
  const { view, input, shown } = run;
  const isFirst = view.attempts === 1 && !input.resumed;
  if (isFirst || input.resumeAt !== undefined || shown === 'circuit_open') showStatus(run, 'retrying');
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
  await cancelDelivery({ organizationId, deliveryId });
  return finished(run, 'cancelled');
}

/** Nobody could find or count one without search attributes. @returns how long it waits for a replay, ms */
function windowOf({ input }: Run, mayWait = true): number {
  return mayWait && hasSearchAttributes() ? input.replayWindowMs : 0;
}

/** Failed for good: open until it is replayed or cancelled, or the replay window ends. */
async function parked(run: Run, windowMs: number): Promise<DeliveryResult> {
  const { input, view, requests } = run;
  const { organizationId, deliveryId } = input;
  view.status = 'failed';
  showStatus(run, 'failed');
  if (windowMs > 0) {
    const openMs = Math.round(windowMs * (1 + WINDOW_JITTER * Math.random()));
    setCurrentDetails(texts.failed(run, fromNow(openMs)));
    await condition(() => requests.replay || requests.cancel, openMs, { summary: texts.failedSummary(run) });
  } else setCurrentDetails(texts.failedAndClosed(run));
  if (!requests.replay) throw ApplicationFailure.nonRetryable(texts.failureReason(run), 'DeliveryFailed');
  const replayedAs = requests.replayedAs ?? (await replayDelivery({ organizationId, deliveryId }));
  setCurrentDetails(texts.replayed(run, replayedAs));
  return { status: 'failed', attempts: view.attempts, replayedAs };
}

/** The search attributes of its start say what it belongs to. */
function belongings({ eventId }: DeliveryInput): texts.Belongings {
  const { typedSearchAttributes, taskQueue } = workflowInfo();
  return {
    prefix: prefixOf(taskQueue),
    eventId,
    routeId: typedSearchAttributes.get(routeIdAttribute),
    destinationId: typedSearchAttributes.get(destinationIdAttribute),
  };
}

function initialView(input: DeliveryInput): DeliveryStatusView {
  const attempts = input.resumeAt === undefined ? (input.resumed?.attempts ?? 0) : input.resumeAt - 1;
  return {
    deliveryId: input.deliveryId,
    status: attempts === 0 ? 'pending' : 'retrying',
    attempts,
    maxAttempts: input.retryPolicy.maxRetries + 1,
    lastError: null,
    lastStatusCode: null,
    nextAttemptAt: null,
  };
}

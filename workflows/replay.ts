// A replay of events selected by a filter: one page, a pause that keeps the rate, the next page, until no event is
// left. The row in PostgreSQL is the record; this workflow drives it, and may be restarted at any time.
import {
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  proxyActivities,
  type RetryPolicy,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { ReplayActivities } from '../activities/types.ts';
import { describeProgress, pauseAfterPage, type ReplayProgress } from '../core/delivery/event-replay.ts';
import { paragraphs, plain, signalChoices } from '../core/temporal/operator-markdown.ts';
import { cancel, progress, type ReplayInput } from './signals-and-queries.ts';
import { replayTaskQueue } from '../core/temporal/names.ts';
import { plural } from '../core/text/words.ts';
import { awayBy, HEARTBEAT_TIMEOUT_MS, isLong, note, ONCE, OWN_SIDE, UNTIL_DONE } from './own-side.ts';

// The worker of a page sends heartbeats; without them another worker creates the page, or finds it created.
const PAGE_TIMEOUT_MS = 120_000;
// How long a replay rests while its organization is suspended, before it looks again.
const SUSPENDED_MS = 30_000;
// How long it rests while there is no room for its next page.
const NO_ROOM_MS = 10_000;

interface Wait {
  details: string;
  summary: string;
  waitMs: number;
}

const SUSPENDED: Wait = {
  details: 'The organization is **suspended**: the replay will continue after an operator resumes the organization.',
  summary: 'The organization is suspended',
  waitMs: SUSPENDED_MS,
};

interface Run {
  input: ReplayInput;
  view: ReplayProgress;
  requests: { cancel: boolean };
}

/**
 * @returns how the replay ended: its row says the same
 * @throws CancelledFailure when it was cancelled in Temporal, so that it shows as cancelled there
 */
export async function replay(input: ReplayInput): Promise<ReplayProgress> {
  const run: Run = { input, view: input.resumeFrom ?? NOT_BEGUN, requests: { cancel: false } };
  setHandler(progress, () => run.view, { description: "The replay's progress" });
  const description = 'Cancels the replay after the current page; events already replayed are not affected';
  note(cancel, run.requests, 'cancel', description);
  CancellationScope.current().cancelRequested.catch(() => {
    run.requests.cancel = true;
  });
  // Nothing below is interrupted half-way: a cancellation request counts as the signal `cancel`.
  const result = await CancellationScope.nonCancellable(() => replayPages(run));
  if (result.status === 'cancelled' && CancellationScope.current().consideredCancelled) {
    throw new CancelledFailure('The replay was cancelled');
  }
  return result;
}

function activities(summary: string, retry: RetryPolicy): ReplayActivities {
  return proxyActivities<ReplayActivities>({
    taskQueue: replayTaskQueue(workflowInfo().taskQueue),
    startToCloseTimeout: PAGE_TIMEOUT_MS,
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
    retry,
    summary,
  });
}

async function replayPages(run: Run): Promise<ReplayProgress> {
  const { input, requests } = run;
  while (!requests.cancel) {
    const before = run.view;
    const begunAt = Date.now();
    const after = await makePage(run, before.pages + 1);
    if (after === null) break;
    const wait = waitOf(after);
    if (wait !== null) {
      run.view = after;
      // Then it looks again: it is not signalled, because an organization has few replays.
      await rest(run, wait);
      if (!requests.cancel) await continueWhenLong(run);
      continue;
    }
    if (after.status !== 'running') return ended(run, after);
    run.view = after;
    const events = after.eventsReplayed - before.eventsReplayed;
    const paceMs = pauseAfterPage(events, input.ratePerSecond, Date.now() - begunAt);
    await pause(run, Math.max(paceMs, after.restMs ?? 0));
    if (!requests.cancel) await continueWhenLong(run);
  }
  return cancelled(run);
}

/**
 * Creates a page. Retries failures of our own infrastructure in workflow code, because a cancel ends that wait.
 * @returns null when a cancel came meanwhile
 */
async function makePage(run: Run, page: number): Promise<ReplayProgress | null> {
  const { organizationId, replayId } = run.input;
  const { replayPage } = activities(`Page ${page}`, ONCE);
  for (let failures = 0; ; failures += 1) {
    try {
      return await replayPage({ organizationId, replayId, page });
    } catch (error) {
      // A cancel may have come during the page.
      await rest(run, { ...awayBy(error, failures), summary: OWN_SIDE }, run.requests.cancel);
      if (run.requests.cancel) return null;
      await continueWhenLong(run);
    }
  }
}

/** The database decides: a replay whose last page has been made is completed. */
async function cancelled(run: Run): Promise<ReplayProgress> {
  const { organizationId, replayId } = run.input;
  const { cancelReplay } = activities('Cancel', UNTIL_DONE);
  return ended(run, await cancelReplay({ organizationId, replayId }));
}

function ended(run: Run, view: ReplayProgress): ReplayProgress {
  run.view = view;
  setCurrentDetails(`**${view.status}**: ${describeProgress(view)}`);
  return view;
}

async function pause({ input, view, requests }: Run, waitMs: number): Promise<void> {
  setCurrentDetails(
    paragraphs(
      `${describeProgress(view)} At most ${plural(input.ratePerSecond, 'event')} per second.`,
      signalChoices('`cancel` cancels the replay; events already replayed are not affected.'),
    ),
  );
  if (waitMs > 0) await condition(() => requests.cancel, waitMs, { summary: `After page ${view.pages}` });
}

/** While no page can be made; null: it was made. */
function waitOf({ suspended, waitsFor }: ReplayProgress): Wait | null {
  if (suspended) return SUSPENDED;
  if (waitsFor === undefined) return null;
  const details = `**Waiting**: ${plain(waitsFor)}. The replay continues automatically.`;
  return { details, summary: 'Waiting for capacity', waitMs: NO_ROOM_MS };
}

/** @param cancelling whether a cancel has come before, which does not end this wait */
async function rest(
  { view, requests }: Run,
  { details, summary, waitMs }: Wait,
  cancelling: boolean = false,
): Promise<void> {
  setCurrentDetails(paragraphs(details, describeProgress(view)));
  await condition(() => requests.cancel && !cancelling, waitMs, { summary });
}

async function continueWhenLong({ input, view }: Run): Promise<void> {
  if (isLong()) await continueAsNew<typeof replay>({ ...input, resumeFrom: view });
}

const NOT_BEGUN: ReplayProgress = {
  status: 'pending',
  pages: 0,
  eventsTotal: null,
  eventsReplayed: 0,
  deliveriesCreated: 0,
  eventsExpired: 0,
  eventsUnroutable: 0,
  replayedUntil: null,
};

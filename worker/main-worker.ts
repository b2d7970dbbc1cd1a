// The main Temporal worker: workflows, and the activities that deliver.
import { type ActivityDeps, createActivities } from '../activities/index.ts';
import { PayloadMemory } from '../activities/attempt/payload-memory.ts';
import { PendingOpenings } from '../activities/attempt/pending-openings.ts';
import { createContextLoader } from '../activities/attempt/results.ts';
import { FairQueue } from '../core/fairness/fair-queue.ts';
import { createWorker, type RunningWorker, run } from './temporal-worker.ts';
import { ACTIVITY_SLOTS, type RelayLink, version, type WorkerContext, type WorkerParts } from './worker-parts.ts';

// Slots are fixed. Of workflow tasks, there are as many as an organization may have workflows in flight (loops.ts): an eager start
// without a free slot becomes an ordinary one. More would not make them faster. When many workflows start at once, every task would wait here for its turn, longer than Temporal
// waits for it (10 s); it would be made again elsewhere, and what was done of it be lost.
const WORKFLOW_TASK_SLOTS = 200;
const CACHED_WORKFLOWS = 5000;
// Circuits that release what they hold at a time: each asks the database many times a second. Three quarters, which one organization
// may have, are 32.
const CIRCUIT_RELEASES = 43;
// The large payloads of all attempts together. One organization has half of it.
const LARGE_BODY_BYTES = 256 * 1024 * 1024;
// How long an attempt waits for room among them, with its place in flight. Then it waits outside of this process.
const BODY_WAIT_MS = 5000;
// How long an activity waits for its result to be recorded. Less than the margin the workflow leaves for it.
const AWAIT_RECORD_MS = 30_000;

export function activityDepsOf(
  { settings, tuning, log }: WorkerContext,
  parts: WorkerParts,
  link: RelayLink,
): ActivityDeps {
  const { hotPool, due, lanes, traces } = parts;
  return {
    ...parts,
    settings,
    tuning,
    log,
    releases: new FairQueue(CIRCUIT_RELEASES),
    awaitRecordMs: AWAIT_RECORD_MS,
    pendingOpenings: new PendingOpenings(),
    isSuspended: (organizationId) => due.now.suspended.has(organizationId),
    contexts: createContextLoader(hotPool),
    bodies: new PayloadMemory(LARGE_BODY_BYTES, BODY_WAIT_MS),
    hasPlace: (deliveryId) => link.relay?.hasPlace(deliveryId) ?? false,
    onRoom: () => link.relay?.onRoom(),
    onSlot: (destinationId, deliveryId) => link.relay?.slotTaken(destinationId, deliveryId),
    tracing: traces.tracing,
    headerPrefix: settings.HOOKYARD_HEADER_PREFIX,
    version,
    onBegun: lanes.begun,
    onAnswered(deliveryId) {
      due.active();
      link.relay?.answered(deliveryId);
    },
    onRecorded: (deliveryId) => link.relay?.recorded(deliveryId),
  };
}

export async function startMainWorker(
  { common, workflowBundle }: Pick<WorkerParts, 'common' | 'workflowBundle'>,
  deps: ActivityDeps,
): Promise<RunningWorker> {
  const activities = createActivities(deps);
  const worker = await createWorker(common, {
    taskQueue: common.taskQueue,
    workflowBundle,
    activities,
    maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASK_SLOTS,
    maxConcurrentLocalActivityExecutions: ACTIVITY_SLOTS,
    maxConcurrentActivityTaskExecutions: ACTIVITY_SLOTS,
    maxCachedWorkflows: CACHED_WORKFLOWS,
  });
  return run(worker);
}

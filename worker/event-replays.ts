// Replays of events in the worker: starts a workflow for each that has none, and runs the activities that create pages, in a
// separate Temporal worker with few slots, so that replays never take resources that deliveries need.
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { inTurnOf } from '../temporal-config/fairness.ts';
import { lookUp } from '../temporal-config/workflow-state.ts';
import { createReplayActivities } from '../activities/replay.ts';
import { settleAll } from '../core/settle-all.ts';
import { claimEventReplays, type DueReplay, endEventReplay } from '../db/replay/event-replays.ts';
import type { Pool } from '../db/connections/pool.ts';
import type { BacklogLimits } from '../db/delivery/backlog.ts';
import type { Compute } from '../outbound/compute/index.ts';
import { replayTaskQueue, TASK_QUEUE } from '../core/workflow-names.ts';
import type { replay } from '../workflows/replay.ts';
import { organizationIdAttribute, sourceIdAttribute } from '../core/search-attributes.ts';
import { type RunningWorker, startSideWorker, type SideWorkerDeps } from './temporal-worker.ts';

// Stalled replays that are checked at once.
const MAX_PER_LOOK = 20;
// Pages created at the same time: half of the command connections at most.
const PAGE_SLOTS = 2;

export interface EventReplayDeps extends SideWorkerDeps {
  client: Client;
  /** For commands. */
  pool: Pool;
  compute: Pick<Compute, 'validate'>;
  settings: SideWorkerDeps['settings'] & BacklogLimits;
}

export function startEventReplays(deps: EventReplayDeps): Promise<RunningWorker> {
  return startSideWorker(deps, {
    taskQueue: replayTaskQueue(deps.taskQueue),
    activities: createReplayActivities(deps),
    slots: PAGE_SLOTS,
    startDue: async () => (await lookAfterDue(deps)) === MAX_PER_LOOK,
    what: 'replays',
  });
}

/** @returns how many were claimed */
async function lookAfterDue(deps: EventReplayDeps): Promise<number> {
  const due = await claimEventReplays(deps.pool, MAX_PER_LOOK);
  await settleAll(due.map((claimed) => lookAfter(deps, claimed)));
  return due.length;
}

/**
 * Starts a replay's workflow unless it runs. If the workflow was terminated in Temporal, the replay would stay open for ever, so
 * the replay is ended too. A workflow that completed has recorded its end first: if the database does not have it, the database
 * was restored from a backup, and the replay continues from there.
 */
async function lookAfter(deps: EventReplayDeps, due: DueReplay): Promise<void> {
  if (await start(deps.client, due, 'REJECT_DUPLICATE')) return;
  const { state } = await lookUp(deps.client, due.replayId);
  if (state === 'ended') await start(deps.client, due, 'ALLOW_DUPLICATE');
  if (state !== 'stopped') return;
  const lost = await endEventReplay(deps.pool, due, 'failed', 'Its workflow was ended in Temporal');
  if (lost) deps.log.warn({ replayId: due.replayId, organizationId: due.organizationId }, 'replay lost its workflow');
}

/** @returns false when it was started before */
async function start(client: Client, due: DueReplay, reuse: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE'): Promise<boolean> {
  const { organizationId, replayId, ratePerSecond, eventsTotal, sourceId } = due;
  try {
    await client.workflow.start<typeof replay>('replay', {
      // The workflow id of a replay is the replay's id.
      workflowId: replayId,
      taskQueue: TASK_QUEUE,
      workflowIdReusePolicy: reuse,
      ...inTurnOf(organizationId),
      args: [{ organizationId, replayId, ratePerSecond }],
      staticSummary: `Replay of ${eventsTotal ?? 'many'} events, ${ratePerSecond} per second`,
      typedSearchAttributes: new TypedSearchAttributes([
        { key: organizationIdAttribute, value: organizationId },
        ...(sourceId === null ? [] : [{ key: sourceIdAttribute, value: sourceId }]),
      ]),
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

// Replays of events in the worker: starts a workflow for each that has none, and runs the activities that make pages, in
// a Temporal worker with few slots of its own, so that replays never hold what deliveries need.
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { type DataConverter, TypedSearchAttributes } from '@temporalio/common';
import { type NativeConnection, Worker } from '@temporalio/worker';
import { lookUp } from '../temporal-config/workflow-state.ts';
import { createReplayActivities } from '../activities/replay.ts';
import type { Settings } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import { claimEventReplays, type DueReplay, endEventReplay } from '../db/event-replays.ts';
import type { Pool } from '../db/pool.ts';
import { replayTaskQueue, TASK_QUEUE } from '../core/workflow-names.ts';
import type { replay } from '../workflows/replay.ts';
import { organizationIdAttribute, sourceIdAttribute } from '../core/search-attributes.ts';
import { watch } from './watch.ts';

// How often replays without a sign of life are looked for, and how many are looked after at once.
const LOOK_EVERY_MS = 1000;
const MAX_PER_LOOK = 20;
// Pages made at the same time: half of the command connections at most.
const PAGE_SLOTS = 2;

export interface EventReplayDeps {
  connection: NativeConnection;
  namespace: string;
  dataConverter: DataConverter;
  client: Client;
  /** For commands. */
  pool: Pool;
  settings: Pick<Settings, 'HOOKYARD_SHUTDOWN_SECONDS'>;
  log: Log;
}

export interface EventReplays {
  /** Rejects when Temporal's worker ends by an error. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

export async function startEventReplays(deps: EventReplayDeps): Promise<EventReplays> {
  const { connection, namespace, dataConverter, settings, log } = deps;
  const worker = await Worker.create({
    connection,
    namespace,
    dataConverter,
    taskQueue: replayTaskQueue(TASK_QUEUE),
    activities: createReplayActivities(deps),
    maxConcurrentActivityTaskExecutions: PAGE_SLOTS,
    shutdownGraceTime: settings.HOOKYARD_SHUTDOWN_SECONDS * 1000,
    shutdownForceTime: settings.HOOKYARD_SHUTDOWN_SECONDS * 1000 + 2000,
  });
  const ended = worker.run();
  // Failure policy: while the database or Temporal is away, replays wait; a claim that led to nothing lapses.
  const due = watch(async () => (await lookAfterDue(deps)) === MAX_PER_LOOK, {
    everyMs: LOOK_EVERY_MS,
    onError: (error) => log.warn({ error: String(error) }, 'replays wait: the database or Temporal is away'),
  });
  return {
    ended,
    async stop() {
      await due.stop();
      if (worker.getState() === 'RUNNING') worker.shutdown();
      // A forced end rejects; the page that was cut off is made by another worker.
      await ended.catch(() => undefined);
    },
  };
}

/** @returns how many were claimed */
async function lookAfterDue(deps: EventReplayDeps): Promise<number> {
  const due = await claimEventReplays(deps.pool, MAX_PER_LOOK);
  const looks = await Promise.allSettled(due.map((claimed) => lookAfter(deps, claimed)));
  for (const look of looks) if (look.status === 'rejected') throw look.reason;
  return due.length;
}

/**
 * Starts a replay's workflow unless it runs. One that was ended in Temporal (terminated in the UI) would leave its replay
 * under way for ever, so the replay is ended too. One that ended by itself has recorded that before: a database that does
 * not know of it was restored from a backup, and the replay goes on where that is.
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

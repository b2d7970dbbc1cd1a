// A Temporal worker as this process runs it, and those beside the main one: with few slots of their own, so that what they do
// never holds what deliveries need.
import type { DataConverter } from '@temporalio/common';
import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Settings } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import { watch } from './watch.ts';

// So long after the grace time of a stop, the worker ends whatever still runs.
const FORCE_AFTER_MS = 2000;
const LOOK_EVERY_MS = 1000;

/** What the workers of a process share. */
export interface WorkerDeps {
  connection: NativeConnection;
  namespace: string;
  dataConverter: DataConverter;
  settings: Pick<Settings, 'HOOKYARD_SHUTDOWN_SECONDS'>;
  log: Log;
}

export interface RunningWorker {
  /** Rejects when Temporal's worker ends by an error. */
  ended: Promise<void>;
  /** Lets running activities finish, for a while. */
  stop(): Promise<void>;
}

export async function createWorker(deps: WorkerDeps, options: WorkerOptions): Promise<Worker> {
  const graceMs = deps.settings.HOOKYARD_SHUTDOWN_SECONDS * 1000;
  return Worker.create({
    connection: deps.connection,
    namespace: deps.namespace,
    dataConverter: deps.dataConverter,
    shutdownGraceTime: graceMs,
    shutdownForceTime: graceMs + FORCE_AFTER_MS,
    ...options,
  });
}

export function run(worker: Worker): RunningWorker {
  const ended = worker.run();
  return {
    ended,
    async stop() {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      // A forced end rejects; what was cut off is made again by another worker.
      await ended.catch(() => undefined);
    },
  };
}

interface SideWorkerOptions {
  taskQueue: string;
  activities: object;
  /** Activities that run at the same time. */
  slots: number;
  /** Starts and wakes the workflows of what is due. @returns whether there is more to do at once */
  startDue: () => Promise<boolean>;
  /** What waits while the database or Temporal is away, for the log. */
  what: string;
  /** Ends what the activities use. */
  close?: () => void | Promise<void>;
}

/**
 * Runs activities, and looks every second for what is due.
 * Failure policy: while the database or Temporal is away, what is due waits; a claim that led to nothing lapses.
 */
export async function startSideWorker(deps: WorkerDeps, options: SideWorkerOptions): Promise<RunningWorker> {
  const { taskQueue, activities, slots, startDue, what, close } = options;
  const worker = run(await createWorker(deps, { taskQueue, activities, maxConcurrentActivityTaskExecutions: slots }));
  const due = watch(startDue, {
    everyMs: LOOK_EVERY_MS,
    onError: (error) => deps.log.warn({ error: String(error) }, `${what} wait: the database or Temporal is away`),
  });
  return {
    ended: worker.ended,
    async stop() {
      await due.stop();
      await worker.stop();
      await close?.();
    },
  };
}

// The Temporal workers of this process: the main one, and side workers with few slots of their own, so that their work never
// takes resources that deliveries need.
import type { DataConverter } from '@temporalio/common';
import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Settings } from '../core/config/config.ts';
import type { Log } from '../core/process/log.ts';
import { type Release, versioned } from './release.ts';

// Time after the grace period of a shutdown after which the worker forces running activities to end.
const FORCE_AFTER_MS = 2000;
// By default the SDK holds heartbeats back for 80 % of their timeout: 12 of 15 s. Then one that comes 3 s late makes all attempts of this worker
// count as lost, and they are made again.
const LONGEST_BETWEEN_BEATS_MS = 2000;

/** Shared by the workers of a process. */
export interface WorkerDeps {
  connection: NativeConnection;
  namespace: string;
  dataConverter: DataConverter;
  /** Of the installation's workflows. */
  taskQueue: string;
  /** Null: workers are not versioned. */
  release: Release | null;
  settings: Pick<Settings, 'HOOKYARD_SHUTDOWN_SECONDS'>;
  log: Log;
}

export interface RunningWorker {
  /** Rejects when Temporal's worker ends with an error. */
  ended: Promise<void>;
  /** Whether it asks Temporal for tasks. */
  isPolling(): boolean;
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
    maxHeartbeatThrottleInterval: LONGEST_BETWEEN_BEATS_MS,
    ...versioned(deps.release),
    ...options,
  });
}

export function run(worker: Worker): RunningWorker {
  const ended = worker.run();
  return {
    ended,
    isPolling() {
      const { workflowPollerState, activityPollerState } = worker.getStatus();
      return workflowPollerState === 'POLLING' && activityPollerState === 'POLLING';
    },
    async stop() {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      // A forced end rejects; another worker repeats the interrupted activities.
      await ended.catch(() => undefined);
    },
  };
}

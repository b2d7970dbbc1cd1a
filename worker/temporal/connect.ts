// What a worker has of Temporal: one connection for client and Temporal workers, which eager starts need, the client,
// the code of the workflows, and what is known of the namespace.
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Settings } from '../../core/config/config.ts';
import type { Log } from '../../core/process/log.ts';
import { InstallationClient, nativeOptions, type TemporalConnection } from '../../temporal-config/client.ts';
import { type CodecKey, temporalDataConverter } from '../../temporal-config/payload-codec.ts';
import { releaseOf, versioned } from './release.ts';
import { keepApiKey, watchAttributes } from './upkeep.ts';
import { temporalLogger } from './log.ts';
import { bundleWorkflows } from './workflow-bundle.ts';

export async function connectToTemporal(
  settings: Settings,
  temporal: TemporalConnection,
  { keys, version, log }: { keys: readonly CodecKey[]; version: string; log: Log },
) {
  const dataConverter = temporalDataConverter(settings.HOOKYARD_TEMPORAL_CODEC, keys);
  const prefix = settings.HOOKYARD_TEMPORAL_PREFIX;
  const options = nativeOptions(temporal);
  const [connection, workflowBundle] = await Promise.all([
    NativeConnection.connect(options),
    bundleWorkflows(temporalLogger(log)),
  ]);
  const { namespace } = temporal;
  const apiKey = keepApiKey(connection, temporal, options.apiKey, log);
  const attributes = await watchAttributes(connection, namespace, log);
  const release = releaseOf(settings, version, workflowBundle);
  const startsEagerly = release === null;
  const client = new InstallationClient({ connection, namespace, dataConverter, prefix, attributes, startsEagerly });
  const taskQueue = client.workflowQueue;
  const common = { connection, namespace, dataConverter, taskQueue, release, settings, log };
  const stopTemporal = () => Promise.all([attributes.stop(), apiKey?.stop()]);
  return { client, workflowBundle, attributes, stopTemporal, common };
}

// Time after the grace period of a shutdown after which the worker forces running activities to end.
const FORCE_AFTER_MS = 2000;
// By default the SDK holds heartbeats back for 80 % of their timeout: 12 of 15 s. Then one that comes 3 s late makes
// all attempts of this worker count as lost, and they are made again.
const LONGEST_BETWEEN_BEATS_MS = 2000;

/** What all Temporal workers of a process have. */
export type WorkerDeps = Awaited<ReturnType<typeof connectToTemporal>>['common'];
export type RunningWorker = ReturnType<typeof run>;

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

export function run(worker: Worker) {
  const ended = worker.run();
  return {
    ended,
    isPolling(): boolean {
      const { workflowPollerState, activityPollerState } = worker.getStatus();
      return workflowPollerState === 'POLLING' && activityPollerState === 'POLLING';
    },
    async stop(): Promise<void> {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      // A forced end rejects; another worker repeats the interrupted activities.
      await ended.catch(() => undefined);
    },
  };
}

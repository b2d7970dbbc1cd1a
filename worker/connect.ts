// What a worker has of Temporal: one connection for client and Temporal workers, which eager starts need, the client, the code of the
// workflows, and what is known of the namespace.
import { NativeConnection, type WorkflowBundleOption } from '@temporalio/worker';
import type { Settings } from '../core/config/config.ts';
import type { Log } from '../core/process/log.ts';
import { InstallationClient } from '../temporal-config/client.ts';
import { nativeOptions, type TemporalConnection } from '../temporal-config/connection.ts';
import { type CodecKey, temporalDataConverter } from '../temporal-config/payload-codec.ts';
import { releaseOf } from './release.ts';
import { type AttributeWatch, keepApiKey, watchAttributes } from './temporal-upkeep.ts';
import { temporalLogger } from './temporal-log.ts';
import type { WorkerDeps } from './temporal-worker.ts';
import { bundleWorkflows } from './workflow-bundle.ts';

export interface Connected {
  client: InstallationClient;
  workflowBundle: WorkflowBundleOption;
  attributes: AttributeWatch;
  /** Ends looking at the namespace and at the API key. */
  stop(): Promise<void>;
  /** For each Temporal worker of the process. */
  common: WorkerDeps;
}

/** @param version of the package */
export async function connectToTemporal(
  settings: Settings,
  temporal: TemporalConnection,
  { keys, version, log }: { keys: readonly CodecKey[]; version: string; log: Log },
): Promise<Connected> {
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
  const stop = async () => void (await Promise.all([attributes.stop(), apiKey.stop()]));
  return { client, workflowBundle, attributes, stop, common };
}

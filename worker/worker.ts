// The worker as one object: Temporal workers, relay and everything they share. process.ts adds settings and signals.
import type { Settings } from '../core/config/config.ts';
import type { Log } from '../core/process/log.ts';
import { watchLoop } from '../core/process/loop-delay.ts';
import type { Tuning } from '../core/config/tuning.ts';
import type { Database } from '../db/connections/database.ts';
import type { TemporalConnection } from '../temporal-config/connection.ts';
import { type Loops, startLoops } from './loops.ts';
import { activityDepsOf, startMainWorker } from './main-worker.ts';
import { startWorkerMetrics } from './metrics.ts';
import { closeAll } from './pools.ts';
import { keepRelease, type KeptRelease } from './release.ts';
import { startSideWorkers } from './side-workers.ts';
import type { RunningWorker } from './temporal-worker.ts';
import { buildParts, type RelayLink, version, type WorkerContext, type WorkerParts } from './worker-parts.ts';

/**
 * Connects and starts; resolves when deliveries are being processed. Stopping ends the claims, lets running attempts finish, and
 * closes everything.
 * @param env of the process, with the secrets that are in files
 * @param temporalMetrics those of Temporal's SDK
 */
export async function runWorker(
  settings: Settings,
  tuning: Tuning,
  env: Record<string, string | undefined>,
  database: Database,
  temporal: TemporalConnection,
  log: Log,
  temporalMetrics?: WorkerContext['temporalMetrics'],
): Promise<RunningWorker> {
  const context: WorkerContext = { settings, tuning, env, database, temporal, log, temporalMetrics };
  const link: RelayLink = {};
  const parts = await buildParts(context, link);
  const activityDeps = activityDepsOf(context, parts, link);
  const worker = await startMainWorker(parts, activityDeps);
  const loops = startLoops(context, parts, activityDeps, link);
  const workers = [worker, ...(await startSideWorkers(context, parts))];
  const release = keepRelease({ ...parts.common, prefix: parts.client.prefix });
  // Not before: loading modules takes longer.
  const stopWatching = watchLoop(log);
  const metrics = await startOwnMetrics(context, parts, loops, worker, release);
  return {
    ended: Promise.all(workers.map(({ ended }) => ended)).then(() => undefined),
    isPolling: worker.isPolling,
    stop() {
      metrics.ending();
      // A worker that ends takes no workflows over.
      const released = release.stop();
      return stopInOrder(parts, loops, workers, [
        () => Promise.all([metrics.stop(), parts.traces.stop()]).then(() => undefined),
        ...loopClosers(loops),
        () => released,
        ...partClosers(parts, stopWatching),
      ]);
    },
  };
}

function startOwnMetrics(
  { settings, env, temporalMetrics }: WorkerContext,
  parts: WorkerParts,
  loops: Loops,
  worker: RunningWorker,
  release: KeptRelease,
) {
  const { common, hotPool: hot, pool: commands, warehousePool: warehouses } = parts;
  const pools = { hot, commands, warehouses };
  const own = { settings, env, version, pools, worker, release, temporalMetrics: temporalMetrics?.text };
  return startWorkerMetrics({ ...parts, ...common, ...loops, ...own });
}

type Closer = () => Promise<void>;

const loopClosers = (loops: Loops): Closer[] => [
  () => loops.listener.close(),
  () => loops.ledger.stop(),
  () => loops.slots.stop(),
  () => loops.schedules.stop(),
];

const partClosers = (parts: WorkerParts, stopWatching: () => void): Closer[] => [
  () => parts.stopTemporal(),
  () => parts.parking.stop(),
  () => parts.results.idle(),
  () => parts.issues.close(),
  () => parts.transforms.close(),
  () => parts.compute.close(),
  async () => stopWatching(),
  () => parts.sender.close(),
  () => closeAll([parts.hotPool, parts.pool, parts.warehousePool], parts.common.connection),
];

async function stopInOrder(
  { due }: WorkerParts,
  { relay, shards }: Loops,
  workers: RunningWorker[],
  closers: Closer[],
): Promise<void> {
  await relay.stop();
  await due.stop();
  await Promise.all(workers.map((worker) => worker.stop()));
  // Not before: others would start what is still under way in activities. Its beat goes on until here.
  await shards.release();
  for (const close of closers) await close();
}

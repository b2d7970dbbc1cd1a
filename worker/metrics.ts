// The metrics of a worker and its probes, on one port.
import type { Settings } from '../core/config/config.ts';
import type { DestinationPlaces } from '../core/delivery/destination-places.ts';
import type { Log } from '../core/process/log.ts';
import {
  concurrencyDestinations,
  concurrencyLimit,
  relayInFlight,
  relayShards,
  releaseUnserved,
  workflowTurnsAwaited,
} from '../core/metrics/deliveries.ts';
import type { WorkflowTurns } from '../core/fairness/workflow-turns.ts';
import type { Pool } from '../db/connections/pool.ts';
import { type Metrics, startMetrics } from '../telemetry/index.ts';
import { createReadiness } from './health.ts';
import type { Relay } from './relay/relay.ts';
import type { KeptRelease } from './release.ts';
import type { AttributeWatch, KeptSchedules } from './temporal-upkeep.ts';
import type { Shards } from './relay/shards.ts';
import type { RunningWorker } from './temporal-worker.ts';

export interface WorkerMetricsDeps {
  settings: Settings;
  version: string;
  pools: { hot: Pool; commands: Pool; warehouses: Pool };
  namespace: string;
  attributes: AttributeWatch;
  shards: Shards;
  relay: Relay;
  worker: RunningWorker;
  release: KeptRelease;
  schedules: KeptSchedules;
  places: DestinationPlaces;
  workflowTurns: WorkflowTurns;
  /** Those of Temporal's SDK, as text. */
  temporalMetrics: (() => Promise<string | undefined>) | undefined;
  env: Record<string, string | undefined>;
  log: Log;
}

export interface WorkerMetrics extends Metrics {
  /** Call it when the worker is asked to end: it is not ready from then on. */
  ending(): void;
}

export async function startWorkerMetrics(deps: WorkerMetricsDeps): Promise<WorkerMetrics> {
  const { relay, release, shards, places, workflowTurns } = deps;
  let isEnding = false;
  const stops = [
    relayShards.readFrom(() => shards.held()?.shards.length ?? 0),
    relayInFlight.readFrom(() => relay.state().inFlight),
    releaseUnserved.readFrom(() => (release.state().isUnserved ? 1 : 0)),
    workflowTurnsAwaited.readFrom(() => workflowTurns.waiting),
    concurrencyDestinations.readFrom(() => places.limits().length),
    concurrencyLimit.readFrom(() => summaryOf(places.limits())),
  ];
  const metrics = await startMetrics({
    ...deps,
    role: 'worker',
    // Not `commands`, for which the relay waits.
    pool: deps.pools.warehouses,
    readiness: createReadiness({ ...deps, isEnding: () => isEnding }),
    others: deps.temporalMetrics,
  });
  return {
    ending() {
      isEnding = true;
    },
    async stop() {
      await metrics.stop();
      for (const stop of stops) stop();
    },
  };
}

/** @param limits in ascending order */
function summaryOf(limits: number[]) {
  const at = (part: number) => limits[Math.floor((limits.length - 1) * part)] ?? 0;
  if (limits.length === 0) return [];
  return [[{ stat: 'min' }, at(0)] as const, [{ stat: 'median' }, at(0.5)] as const, [{ stat: 'max' }, at(1)] as const];
}

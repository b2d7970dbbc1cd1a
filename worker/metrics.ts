// The metrics of a worker and its probes (whether it can start deliveries), on one port.
import type { Settings } from '../core/config/config.ts';
import type { DestinationConcurrency } from '../core/delivery/destination-concurrency.ts';
import type { WorkflowPermits } from '../core/fairness/workflow-permits.ts';
import {
  concurrencyDestinations,
  concurrencyLimit,
  relayInFlight,
  relayShards,
  releaseUnserved,
  workflowTurnsAwaited,
} from '../core/metrics/deliveries.ts';
import type { Log } from '../core/process/log.ts';
import { CachedProbe, UNREACHABLE } from '../core/process/poll-loop.ts';
import type { Pool } from '../db/connections/pool.ts';
import { type Readiness, startMetrics } from '../telemetry/index.ts';
import type { Relay } from './relay/relay.ts';
import type { Shards } from './relay/shards.ts';
import type { RunningWorker } from './temporal/connect.ts';
import type { KeptRelease } from './temporal/release.ts';
import type { AttributeWatch, KeptSchedules } from './temporal/upkeep.ts';

export interface WorkerMetricsDeps extends Omit<HealthDeps, 'isEnding'> {
  settings: Settings;
  version: string;
  pools: { hot: Pool; commands: Pool; warehouses: Pool };
  concurrency: DestinationConcurrency;
  workflowPermits: WorkflowPermits;
  temporalMetrics: (() => Promise<string | undefined>) | undefined;
  env: Record<string, string | undefined>;
  log: Log;
}

export async function startWorkerMetrics(deps: WorkerMetricsDeps) {
  const { relay, release, shards, concurrency, workflowPermits } = deps;
  let isEnding = false;
  const stops = [
    relayShards.readFrom(() => shards.held()?.shards.length ?? 0),
    relayInFlight.readFrom(() => relay.state().inFlight),
    releaseUnserved.readFrom(() => (release.state().isUnserved ? 1 : 0)),
    workflowTurnsAwaited.readFrom(() => workflowPermits.waiting),
    concurrencyDestinations.readFrom(() => concurrency.limits().length),
    concurrencyLimit.readFrom(() => summaryOf(concurrency.limits())),
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
    /** Call it when the worker is asked to end: it is not ready from then on. */
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

const DEADLINE_MS = 3000;
// An idle relay with free slots claims every ten seconds, and one rests for a second after an error.
const CLAIMED_WITHIN_MS = 15_000;

export interface HealthDeps {
  namespace: string;
  attributes: Pick<AttributeWatch, 'look' | 'hasNamespace'>;
  shards: Pick<Shards, 'held'>;
  relay: Pick<Relay, 'state'>;
  worker: Pick<RunningWorker, 'isPolling'>;
  release: Pick<KeptRelease, 'state'>;
  schedules: Pick<KeptSchedules, 'refusal'>;
  isEnding: () => boolean;
}

/**
 * Ready: the relay owns shards and claims from them, and Temporal answers, knows the namespace, is polled, and gives
 * workflows to workers that are there. In the lanes `express` and `adaptive` first attempts continue while Temporal is
 * away; their retries do not, so that is not ready either. Missing search attributes are only shown: deliveries
 * continue without them.
 */
export function createReadiness(deps: HealthDeps): () => Promise<Readiness> {
  const { namespace, attributes, shards, relay, worker, release, schedules, isEnding } = deps;
  let takesAttributes = false;
  const temporal = new CachedProbe(async () => {
    takesAttributes = await attributes.look();
    return attributes.hasNamespace ? null : `does not have the namespace ${namespace}`;
  });
  return async () => {
    const found = await temporal.within(DEADLINE_MS);
    const held = shards.held();
    const { inFlight, free, claimedMsAgo } = relay.state();
    const isPolling = worker.isPolling();
    const { own, current, isUnserved } = release.state();
    const hasClaimed = free <= 0 || (claimedMsAgo !== undefined && claimedMsAgo < CLAIMED_WITHIN_MS);
    const problems = [
      isEnding() && 'the worker is shutting down',
      held === null && 'the relay owns no shards: the database is unavailable, or the worker has just started',
      !hasClaimed && 'the relay has not claimed deliveries for 15 seconds',
      found === undefined && `Temporal did not respond within ${DEADLINE_MS / 1000} s`,
      typeof found === 'string' && `Temporal ${found}`,
      !isPolling && 'the worker is not polling Temporal for tasks',
      schedules.refusal !== null &&
        `Temporal refuses the worker's requests (${schedules.refusal}): the worker's key or certificate is missing or invalid, or needs the writer role for the namespace ${namespace} (docs/operate/temporal.md)`,
      isUnserved && `workflows are not being processed: ${unservedBecause(current)}`,
    ].filter((problem) => problem !== false);
    return {
      problems,
      facts: {
        relay: {
          shards: held?.shards.length ?? 0,
          lastClaimSeconds: claimedMsAgo === undefined ? null : Math.round(claimedMsAgo / 100) / 10,
          inFlight,
        },
        temporal: {
          answers: found !== undefined && found !== UNREACHABLE,
          searchAttributes: found === null && takesAttributes,
          polling: isPolling,
        },
        release: { own, current },
      },
    };
  };
}

function unservedBecause(current: string | null): string {
  const who = current === null ? 'workers without a release' : `workers of release ${current}`;
  return `Temporal assigns them to ${who}, but no such worker is polling; start one, or make this release the current one (docs/operate/upgrading.md)`;
}

// Whether this worker can start deliveries, for the probes of its operators.
import { CachedProbe, UNREACHABLE } from '../core/process/cached-probe.ts';
import type { Readiness } from '../telemetry/index.ts';
import type { Relay } from './relay/relay.ts';
import type { KeptRelease } from './release.ts';
import type { AttributeWatch, KeptSchedules } from './temporal-upkeep.ts';
import type { Shards } from './relay/shards.ts';
import type { RunningWorker } from './temporal-worker.ts';

const DEADLINE_MS = 3000;
// An idle relay with free places claims every ten seconds, and one rests for a second after an error.
const CLAIMED_WITHIN_MS = 15_000;

export interface HealthDeps {
  namespace: string;
  attributes: Pick<AttributeWatch, 'look' | 'hasNamespace'>;
  shards: Pick<Shards, 'held'>;
  relay: Pick<Relay, 'state'>;
  worker: Pick<RunningWorker, 'isPolling'>;
  release: Pick<KeptRelease, 'state'>;
  schedules: Pick<KeptSchedules, 'refusal'>;
  /** Whether it has been asked to end. */
  isEnding: () => boolean;
}

/**
 * Ready: the relay owns shards and claims from them, and Temporal answers, knows the namespace, is polled, and gives workflows
 * to workers that are there. In the lanes
 * `express` and `adaptive` first attempts continue while Temporal is away; their retries do not, so that is not ready either. Missing
 * search attributes are only shown: deliveries continue without them.
 */
export function createReadiness(deps: HealthDeps): () => Promise<Readiness> {
  const { namespace, attributes, shards, relay, worker, release, schedules, isEnding } = deps;
  let takesAttributes = false;
  const temporal = new CachedProbe(async () => {
    takesAttributes = await attributes.look();
    return attributes.hasNamespace ? null : `does not know the namespace ${namespace}`;
  });
  return async () => {
    const found = await temporal.within(DEADLINE_MS);
    const held = shards.held();
    const { inFlight, free, claimedMsAgo } = relay.state();
    const isPolling = worker.isPolling();
    const { own, current, isUnserved } = release.state();
    const hasClaimed = free <= 0 || (claimedMsAgo !== undefined && claimedMsAgo < CLAIMED_WITHIN_MS);
    const problems = [
      isEnding() && 'the worker ends',
      held === null && 'the relay owns no shards: the database is away, or the worker has just started',
      !hasClaimed && 'the relay has not claimed for fifteen seconds',
      found === undefined && `Temporal does not answer within ${DEADLINE_MS / 1000} s`,
      typeof found === 'string' && `Temporal ${found}`,
      !isPolling && 'Temporal is not polled for tasks',
      schedules.refusal !== null &&
        `Temporal refuses what a worker does (${schedules.refusal}): its key or certificate needs to be a writer of the namespace ${namespace} (docs/temporal.md)`,
      isUnserved && `workflows stand still: ${unservedBecause(current)}`,
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
  const who = current === null ? 'workers without a release' : `the release ${current}`;
  return `Temporal gives them to ${who}, and no worker of that kind asks for them. Start one, or make this release the current one (docs/upgrading.md)`;
}

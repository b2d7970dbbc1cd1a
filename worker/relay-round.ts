// One round of the relay, stage by stage: claim -> divert -> limit -> pace -> resume, start. Each stage takes rows of the outbox and
// returns those for the next stage.
//
// Rows in flight are not claimed again, so a round does not wait for other destinations: checks of slow ones, circuits and, in a
// quiet relay, starts run in the background.
import { setTimeout as delay } from 'node:timers/promises';
import type { DestinationPlaces } from '../core/destination-places.ts';
import { settleAll } from '../core/settle-all.ts';
import type { OutboxRow } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/connections/pool.ts';
import type { BackgroundTasks } from './background-tasks.ts';
import type { Claims } from './claims.ts';
import { divertNew } from './diversion.ts';
import type { InFlight } from './in-flight.ts';
import type { OutboxVacuum } from './outbox-vacuum.ts';
import type { Pacing } from './pacing.ts';
import type { Found } from './relay-rests.ts';
import { findResumed } from './resume.ts';
import type { Shards } from './shards.ts';
import type { StartPolicy } from './start-policies.ts';
import type { Starts } from './starts.ts';

// How long a busy relay waits at most for Temporal to answer its starts.
const GROUP_MS = 100;

interface RoundDeps {
  /** Runs the rare commands. */
  pool: Pool;
  shards: Shards;
  inFlight: InFlight;
  claims: Claims;
  vacuum: OutboxVacuum;
  policiesOf: (rows: OutboxRow[]) => Promise<PolicyOf>;
  pacing: Pacing;
  places: DestinationPlaces;
  starts: Starts;
  background: BackgroundTasks;
  /** Whether deliveries are started in groups. */
  isBusy: () => boolean;
}

type PolicyOf = (row: OutboxRow) => StartPolicy;

/**
 * Claims and starts once. Claimed rows count as in flight from then on.
 * @throws the first error of this round, or of background work of earlier rounds
 */
export async function runRound(deps: RoundDeps): Promise<Found> {
  const claimed = await claim(deps);
  const admitted = divert(deps, claimed);
  const started = await startAdmitted(deps, admitted);
  const diverted = claimed.length - admitted.length;
  deps.background.throwError();
  return deps.claims.found(diverted + started);
}

/** @returns how many were started, without the resumed ones */
async function startAdmitted(deps: RoundDeps, rows: OutboxRow[]): Promise<number> {
  if (rows.length === 0) return 0;
  const { resumed, paced, policyOf } = await choose(deps, rows);
  resume(deps, resumed, policyOf);
  await start(deps, paced, policyOf);
  return paced.length;
}

interface Chosen {
  /** Those that continue from recorded attempts. */
  resumed: Awaited<ReturnType<typeof findResumed>>;
  paced: OutboxRow[];
  policyOf: PolicyOf;
}

/**
 * Which of the claimed rows are to be started now. The others stay in the outbox and hold no place.
 * @throws when the database does not answer: then none of them holds one, because nobody would work on it
 */
async function choose(deps: RoundDeps, rows: OutboxRow[]): Promise<Chosen> {
  try {
    const policyOf = await deps.policiesOf(rows);
    const limited = limit(deps, rows, policyOf);
    const resumed = await findResumed(deps.pool, limited);
    const fresh = limited.filter((row) => !resumed.has(row));
    return { resumed, paced: await pace(deps, fresh, policyOf), policyOf };
  } catch (error) {
    deps.inFlight.deleteAll(rows);
    throw error;
  }
}

async function claim(deps: RoundDeps): Promise<OutboxRow[]> {
  if (!deps.claims.mayClaim) return [];
  const claimed = await deps.shards.duringClaim(() => deps.claims.next());
  deps.vacuum.claimed(claimed.length);
  return claimed;
}

/** Deliveries that the circuit of their route blocks, or a pause, are held, or go to a failover destination. @returns the others */
function divert(deps: RoundDeps, claimed: OutboxRow[]): OutboxRow[] {
  const { starts, background } = deps;
  const blocked = claimed.filter((row) => row.blockedBy !== null);
  const fresh = blocked.filter((row) => row.resume !== 'waiting');
  for (const rows of Map.groupBy(fresh, ({ organizationId }) => organizationId).values())
    background.run(divertFresh(deps, rows));
  // Their own workflows find out where they go instead.
  const withWorkflow = blocked.filter((row) => row.resume === 'waiting');
  background.run(settleAll(withWorkflow.map(starts.wakeWorkflow)));
  return claimed.filter((row) => row.blockedBy === null);
}

/**
 * What stays in the outbox is started: as the probe of its circuit, or because it is no longer blocked. Or it has ended, which its
 * start finds out; left alone, it would be claimed again and again for as long as its route is blocked.
 */
async function divertFresh(deps: RoundDeps, fresh: OutboxRow[]): Promise<void> {
  let left: OutboxRow[] = [];
  try {
    left = await divertNew(deps.pool, fresh);
  } finally {
    const isLeft = new Set(left);
    deps.inFlight.deleteAll(fresh.filter((row) => !isLeft.has(row)));
  }
  await startAdmitted(deps, left);
}

/**
 * Before its policy is read, the maximum of a destination is not known, or an old one.
 * @returns deliveries within the maxima of their destinations. The others stay in the outbox and hold no place
 */
function limit({ places, inFlight }: RoundDeps, rows: OutboxRow[], policyOf: PolicyOf): OutboxRow[] {
  for (const row of rows) places.setMaximum(row.destinationId, policyOf(row).maxConcurrency);
  // The last ones are the least urgent.
  const tooMany = new Set<OutboxRow>();
  for (const row of rows.toReversed()) {
    if (!places.isOver(row.destinationId)) continue;
    tooMany.add(row);
    inFlight.delete(row.deliveryId);
  }
  return tooMany.size === 0 ? rows : rows.filter((row) => !tooMany.has(row));
}

/**
 * Starts the workflows of deliveries that continue from recorded attempts. These wait for their next attempt themselves, so they
 * need neither a rate-limit slot now nor the express lane.
 */
function resume({ starts, background }: RoundDeps, resumed: Chosen['resumed'], policyOf: PolicyOf): void {
  for (const [row, point] of resumed) background.run(starts.resume(row, policyOf(row), point));
}

/** @returns deliveries without a rate limit, or with a slot soon. The others stay in the outbox and hold no place. */
async function pace({ pacing, inFlight }: RoundDeps, rows: OutboxRow[], policyOf: PolicyOf): Promise<OutboxRow[]> {
  const near = await pacing.pace(rows, (row) => policyOf(row).rateLimitPerMinute);
  const starting = new Set(near);
  inFlight.deleteAll(rows.filter((row) => !starting.has(row)));
  return near;
}

async function start({ starts, background, isBusy }: RoundDeps, rows: OutboxRow[], policyOf: PolicyOf): Promise<void> {
  // Signals are not waited for: after an overload, many retries have their turn, and others would wait for Temporal.
  const waiting = rows.filter((row) => row.resume === 'waiting');
  background.run(settleAll(waiting.map(starts.wakeWorkflow)));
  const fresh = rows.filter((row) => row.resume !== 'waiting');
  const started = settleAll(fresh.map((row) => starts.start(row, policyOf(row))));
  background.run(started);
  // A busy relay waits, so that the next claim gets a group. While Temporal does not answer, others would wait with it.
  if (isBusy()) await Promise.race([started.catch(() => undefined), delay(GROUP_MS, undefined, { ref: false })]);
}

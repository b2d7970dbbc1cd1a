// One round of the relay, stage by stage: claim -> block -> limit -> pace -> resume, start. Each stage takes rows of
// the outbox and returns those for the next stage.
//
// Rows in flight are not claimed again, so a round waits for nothing that may take long: blocked deliveries, starts and
// signals run in the background.
import type { DestinationConcurrency } from '../../core/delivery/destination-concurrency.ts';
import { settleAll } from '../../core/fairness/concurrency.ts';
import { electProbe, loadCircuits } from '../../db/circuits/circuits.ts';
import { divertBlocked } from '../../db/circuits/held-deliveries.ts';
import { nextProbe, oldestOpen } from '../../db/circuits/wake-ups.ts';
import { actingFor, NoTurnError } from '../../db/connections/by-organization.ts';
import { isLockTimeout } from '../../db/connections/database-errors.ts';
import { type Pool, withShortLocks } from '../../db/connections/pool.ts';
import { type OutboxRow, type StartPolicy, vacuumOutbox } from '../../db/hot-path/claim.ts';
import type { Claims } from './claim.ts';
import type { InFlight } from './in-flight.ts';
import { type BackgroundTasks, oneAtATime } from './loop.ts';
import type { Repairs } from './overdue.ts';
import type { Pacing } from './pacing.ts';
import type { Shards } from './shards.ts';
import type { Starts } from './start.ts';

interface RoundDeps {
  pool: Pool;
  repairs: Repairs;
  shards: Shards;
  inFlight: InFlight;
  claims: Claims;
  vacuum: (claimed: number) => void;
  policiesOf: (rows: OutboxRow[]) => Promise<PolicyOf>;
  pacing: Pacing;
  concurrency: DestinationConcurrency;
  starts: Starts;
  background: BackgroundTasks;
  wake: () => void;
}

type PolicyOf = (row: OutboxRow) => StartPolicy;

/**
 * Claims and starts once. Claimed rows count as in flight from then on.
 * @throws the first error of this round, or of background work of earlier rounds
 */
export async function runRound(deps: RoundDeps): Promise<void> {
  const { shards, claims, vacuum, background } = deps;
  const claimed = await shards.duringClaim(() => claims.next());
  vacuum(claimed.length);
  await startAdmitted(deps, block(deps, claimed));
  background.throwError();
}

async function startAdmitted(deps: RoundDeps, rows: OutboxRow[]): Promise<void> {
  if (rows.length === 0) return;
  const { resumed, paced, policyOf } = await choose(deps, rows);
  // These wait for their next attempt themselves, so they need neither a rate-limit slot now nor the express lane.
  for (const [row, point] of resumed) deps.background.run(deps.starts.resume(row, policyOf(row), point));
  start(deps, paced, policyOf);
}

/**
 * Which of the claimed rows are to be started now. The others stay in the outbox and hold no slot.
 * @throws when the database does not answer: then none of them holds one, because nobody would work on it
 */
async function choose(deps: RoundDeps, rows: OutboxRow[]) {
  try {
    const policyOf = await deps.policiesOf(rows);
    const limited = limit(deps, rows, policyOf);
    const resumed = await deps.repairs.findResumed(deps.pool, limited);
    const fresh = limited.filter((row) => !resumed.has(row));
    return { resumed, paced: await pace(deps, fresh, policyOf), policyOf };
  } catch (error) {
    deps.inFlight.deleteAll(rows);
    throw error;
  }
}

/**
 * Deliveries that the circuit of their route blocks, or a pause, are held, or go to a failover destination.
 * @returns the others
 */
function block(deps: RoundDeps, claimed: OutboxRow[]): OutboxRow[] {
  const { starts, background } = deps;
  const blocked = claimed.filter((row) => row.blockedBy !== null);
  const fresh = blocked.filter((row) => row.resume !== 'waiting');
  for (const rows of Map.groupBy(fresh, ({ organizationId }) => organizationId).values())
    background.run(blockFresh(deps, rows));
  // Their own workflows find out where they go instead.
  const withWorkflow = blocked.filter((row) => row.resume === 'waiting');
  background.run(settleAll(withWorkflow.map((row) => starts.wakeWorkflow(row))));
  return claimed.filter((row) => row.blockedBy === null);
}

/**
 * What stays in the outbox is started: as the probe of its circuit, or because it is no longer blocked. Or it has
 * ended, which its start finds out; left alone, it would be claimed again and again for as long as its route is
 * blocked.
 */
async function blockFresh(deps: RoundDeps, fresh: OutboxRow[]): Promise<void> {
  let left: OutboxRow[] = [];
  try {
    left = await holdOrFailOver(deps.pool, fresh);
  } finally {
    const isLeft = new Set(left);
    deps.inFlight.deleteAll(fresh.filter((row) => !isLeft.has(row)));
    // What was locked stays in the outbox.
    deps.wake();
  }
  await startAdmitted(deps, left);
}

/**
 * Before its policy is read, the maximum of a destination is not known, or an old one.
 * @returns deliveries within the maxima of their destinations. The others stay in the outbox and hold no slot
 */
function limit({ concurrency, inFlight }: RoundDeps, rows: OutboxRow[], policyOf: PolicyOf): OutboxRow[] {
  for (const row of rows) concurrency.setMaximum(row.destinationId, policyOf(row).maxConcurrency);
  // The last ones are the least urgent.
  const tooMany = new Set<OutboxRow>();
  for (const row of rows.toReversed()) {
    if (!concurrency.isOver(row.destinationId)) continue;
    tooMany.add(row);
    inFlight.delete(row.deliveryId);
  }
  return tooMany.size === 0 ? rows : rows.filter((row) => !tooMany.has(row));
}

/** @returns deliveries without a rate limit, or with a slot soon. The others stay in the outbox and hold no slot. */
async function pace({ pacing, inFlight }: RoundDeps, rows: OutboxRow[], policyOf: PolicyOf): Promise<OutboxRow[]> {
  const near = await pacing.pace(rows, (row) => policyOf(row).rateLimitPerMinute);
  const starting = new Set(near);
  inFlight.deleteAll(rows.filter((row) => !starting.has(row)));
  return near;
}

function start({ starts, background }: RoundDeps, rows: OutboxRow[], policyOf: PolicyOf): void {
  const waiting = rows.filter((row) => row.resume === 'waiting');
  background.run(settleAll(waiting.map((row) => starts.wakeWorkflow(row))));
  const fresh = rows.filter((row) => row.resume !== 'waiting');
  starts.startInOrder(
    fresh.filter((row) => row.orderHash !== null),
    policyOf,
  );
  const unordered = fresh.filter((row) => row.orderHash === null);
  starts.come(unordered, policyOf);
  background.run(settleAll(unordered.map((row) => starts.start(row, policyOf(row)))));
}

// Dead entries of the index stand in front of those of waiting rows, and every claim reads them. Autovacuum comes once
// a minute at most.
const VACUUM_AFTER = 10_000;

/** Vacuums the outbox after a number of claimed rows. An error is no more than a slow claim, and the next vacuum. */
export function createVacuum(pool: Pool, background: BackgroundTasks): (claimed: number) => void {
  let sinceLast = 0;
  const vacuum = oneAtATime(() => vacuumOutbox(pool).catch(() => undefined));
  return (claimed) => {
    sinceLast += claimed;
    if (sinceLast < VACUUM_AFTER) return;
    sinceLast = 0;
    background.run(vacuum());
  };
}

/**
 * Holds new deliveries, or hands them to a failover destination if it is the circuit that blocks them. They get no
 * workflow, so a long outage costs rows instead of histories. When a circuit is half-open and nothing that counts in it
 * is held, the oldest of them that has not ended is made the probe. Failure policy: what stays locked stays in the
 * outbox, and a later round tries it again.
 * @param blocked of one organization: what it keeps locked holds up nobody else
 * @returns those to be started: the probe, what is no longer blocked, and what has ended
 */
export async function holdOrFailOver(pool: Pool, blocked: OutboxRow[]): Promise<OutboxRow[]> {
  const [first] = blocked;
  if (first === undefined) return [];
  try {
    return await actingFor(first.organizationId, () => divert(pool, blocked));
  } catch (error) {
    if (!isLockTimeout(error) && !(error instanceof NoTurnError)) throw error;
    return [];
  }
}

async function divert(pool: Pool, blocked: OutboxRow[]): Promise<OutboxRow[]> {
  const routes = await loadCircuits(pool, [...new Set(blocked.flatMap(({ routeId }) => routeId ?? []))]);
  // As an attempt finds out (db/hot-path/load-attempts.ts); the claim knows failovers only.
  const inCircuit = ({ routeId, destinationId, failoverOf }: OutboxRow) =>
    failoverOf === null && routes.get(routeId ?? '')?.destinationIds.includes(destinationId) === true;
  const halfOpen = blocked.filter((row) => row.blockedBy === 'half_open' && inCircuit(row));
  for (const [routeId, waiting] of Map.groupBy(halfOpen, (row) => row.routeId)) {
    if (routeId === null) continue;
    if ((await nextProbe(pool, routeId)) !== undefined) continue;
    const oldest = await oldestOpen(
      pool,
      waiting.map((row) => row.deliveryId),
    );
    if (oldest !== undefined) await withShortLocks(pool, (db) => electProbe(db, routeId, oldest));
  }
  const rows = blocked.map((row) => ({ ...row, inCircuit: inCircuit(row), hasWorkflow: false }));
  const diverted = await withShortLocks(pool, (db) => divertBlocked(db, rows));
  return blocked.filter(({ deliveryId }) => !diverted.has(deliveryId));
}

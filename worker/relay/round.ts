// One round of the relay, stage by stage: claim -> block -> limit -> pace -> resume, start. Each stage takes rows of
// the outbox and returns those for the next stage.
//
// Rows in flight are not claimed again, so a round waits for nothing that may take long: blocked deliveries, starts and
// signals run in the background.
import { LRUCache } from 'lru-cache';
import type { DestinationConcurrency } from '../../core/delivery/destination-concurrency.ts';
import { settleAll } from '../../core/fairness/concurrency.ts';
import { electProbe, loadCircuits } from '../../db/circuits/circuits.ts';
import { divertBlocked } from '../../db/circuits/held-deliveries.ts';
import { nextProbe, oldestOpen } from '../../db/circuits/wake-ups.ts';
import { actingFor, NoTurnError } from '../../db/connections/by-organization.ts';
import { isLockTimeout } from '../../db/connections/database-errors.ts';
import { type Pool, withShortLocks } from '../../db/connections/pool.ts';
import { nextSlots, type Slot, slotInterval } from '../../db/delivery/rate-limits.ts';
import { type OutboxRow, type StartPolicy, vacuumOutbox } from '../../db/hot-path/claim.ts';
import type { Claims } from './claim.ts';
import type { InFlight } from './in-flight.ts';
import { type BackgroundTasks, oneAtATime } from './loop.ts';
import type { Repairs } from './overdue.ts';
import type { Shards } from './shards.ts';
import type { Starts } from './start.ts';

// Paces the starts of deliveries to rate-limited destinations: a delivery is started shortly before its slot.
// Deliveries without a slot stay in the outbox, where they do not block other destinations. The slot itself is reserved
// by the attempt, right before it sends (activities/attempt/rate-and-concurrency.ts), so a slow start does not violate
// the limit.

// How long before its slot a delivery is started: about what a start takes on a busy machine.
const AHEAD_MS = 200;
// A destination without a slot soon is checked again after at most this time, so that a raised limit takes effect.
const LOOK_AGAIN_MS = 1000;
const LOOK_AGAIN_SOON_MS = 20;
// A start whose attempt has not reserved a slot by then is lost, and will be claimed again.
const UNHEARD_MS = 5000;
const NONE_RESERVED: Slot = { at: 0, inMs: 0 };
// Of destinations; one that is forgotten is looked at anew.
const MOST_REMEMBERED = 10_000;

type Pacing = ReturnType<typeof createPacing>;

export function createPacing(pool: Pool) {
  // When a destination may be claimed again, performance.now() ms.
  const notBefore = new Map<string, number>();
  // Started deliveries that have not reserved their slot yet, each with its deadline; oldest first.
  const started = new Map<string, Map<string, number>>();
  // The next slot as it was at the last look, and how many attempts of this process have reserved one since.
  const looks = new LRUCache<string, { slot: Slot; heard: number }>({ max: MOST_REMEMBERED });

  function awaiting(destinationId: string): number {
    const deliveries = started.get(destinationId);
    const now = performance.now();
    for (const [id, until] of deliveries ?? []) if (until <= now) deliveries?.delete(id);
    return deliveries?.size ?? 0;
  }

  /**
   * Attempts of other workers take slots, too: they may have been started here, because workflows run anywhere. Should
   * they be others, this one starts as many too early, which then wait with a slot of their own.
   */
  function hearOfOthers(destinationId: string, perMinute: number, slot: Slot): void {
    const before = looks.get(destinationId);
    looks.set(destinationId, { slot, heard: 0 });
    if (before === undefined || slot.at <= before.slot.at) return;
    const from = Math.max(before.slot.at, before.slot.at - before.slot.inMs);
    const reserved = Math.max(1, Math.floor((slot.at - from) / slotInterval(perMinute)));
    const deliveries = [...(started.get(destinationId)?.keys() ?? [])];
    for (const id of deliveries.slice(0, Math.max(0, reserved - before.heard))) started.get(destinationId)?.delete(id);
  }

  function takeNear(rows: OutboxRow[], destinationId: string, perMinute: number, nextInMs: number): OutboxRow[] {
    const slots = Math.floor((AHEAD_MS - nextInMs) / slotInterval(perMinute)) + 1;
    const taken = rows.slice(0, Math.max(0, slots - awaiting(destinationId)));
    const now = performance.now();
    if (taken.length < rows.length) {
      const wait = Math.min(LOOK_AGAIN_MS, Math.max(LOOK_AGAIN_SOON_MS, nextInMs - AHEAD_MS));
      notBefore.set(destinationId, now + wait);
    }
    const deliveries = started.get(destinationId) ?? new Map<string, number>();
    for (const row of taken) deliveries.set(row.deliveryId, now + UNHEARD_MS);
    started.set(destinationId, deliveries);
    return taken;
  }

  return {
    /** Destinations to skip, because their next slot is too far away. */
    waiting(): string[] {
      const now = performance.now();
      for (const [id, at] of notBefore) if (at <= now) notBefore.delete(id);
      return [...notBefore.keys()];
    },
    /** When the first of them may be claimed again, ms from now; infinite when there is none. */
    nextInMs: () => Math.min(...notBefore.values()) - performance.now(),
    /** Which of the claimed rows to start now; the others wait for a later claim. Rows are in order of urgency. */
    async pace(rows: OutboxRow[], limitOf: (row: OutboxRow) => number | null): Promise<OutboxRow[]> {
      const limited = rows.filter((row) => limitOf(row) !== null);
      if (limited.length === 0) return rows;
      const byDestination = Map.groupBy(limited, (row) => row.destinationId);
      const slots = await nextSlots(pool, [...byDestination.keys()]);
      const unlimited = rows.filter((row) => limitOf(row) === null);
      const near = [...byDestination].flatMap(([id, waiting]) => {
        const [first] = waiting;
        const perMinute = (first && limitOf(first)) ?? 1;
        const slot = slots.get(id) ?? NONE_RESERVED;
        hearOfOthers(id, perMinute, slot);
        return takeNear(waiting, id, perMinute, Math.max(0, slot.inMs));
      });
      return [...unlimited, ...near];
    },
    slotTaken(destinationId: string, deliveryId: string): void {
      const deliveries = started.get(destinationId);
      deliveries?.delete(deliveryId);
      const look = looks.get(destinationId);
      if (look) look.heard += 1;
      if (deliveries?.size === 0) started.delete(destinationId);
    },
  };
}

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

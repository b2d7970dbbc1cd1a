// Holds this relay's lease of positions (db/hot-path/relay-leases.ts), and knows at any time which of them it certainly owns.
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../core/log.ts';
import { causeOf } from '../core/log-cause.ts';
import { TakeOverGrace, type TakeOver } from '../core/take-over-grace.ts';
import { isAmong, positionOf, type Positions, sizeOf } from '../core/positions.ts';
import {
  endLease,
  forgetLeftovers,
  GUARD_MS,
  givePositionsUp,
  guardShards,
  type Lease,
  LEASE_MS,
  registerRelay,
  renewLease,
  SILENCE_MS,
  takePositions,
} from '../db/hot-path/relay-leases.ts';
import type { RelaySession } from '../db/hot-path/relay-session.ts';
import type { Queryable } from '../db/connections/pool.ts';

const RENEW_MS = 250;
// While there is something to give up or to take.
const UNSETTLED_MS = 50;
// A lease is not used in its last moments: clocks of the database and of this process may run at different speeds.
const SAFETY_MS = 1000;
// Renewals fail many times a second while the database is away.
const WARN_AGAIN_MS = 2000;

/** Of a relay. */
export interface Held {
  /** The name of its lease. */
  owner: string;
  positions: Positions;
}

export interface ShardsDeps {
  pool: Queryable;
  /** The process: names of leases begin with it. */
  name: string;
  session: Pick<RelaySession, 'isHeld'>;
  log: Log;
}

export interface Shards {
  /** What is held now; null when that is nothing, or the lease could not be renewed in time. */
  held(): Held | null;
  /** Runs a claim on what is held. Positions are given up only after the claims that may have found something there. */
  duringClaim<T>(claim: () => Promise<T>): Promise<T>;
  /** Sets what tells the deliveries in flight: others must not start them when their positions are given up. */
  reportInFlight(deliveryIds: () => string[]): void;
  /** Call it when this process may have been cut off from the database, and others with it. */
  mayHaveBeenCutOff(): void;
  /** Gives everything up that is not in flight: from now on others start what waits. Resolves at once. */
  leave(): void;
  /** Ends the lease, and with it the claim to what is in flight: others may start that from now on. */
  release(): Promise<void>;
}

/**
 * Starts renewing the lease.
 * Failure policy: while the database is away the lease expires and nothing is claimed; positions are taken again when it is back,
 * from relays that are gone not before all others have had the time to renew theirs (core/take-over-grace.ts).
 */
export function holdShards({ pool, name, session, log }: ShardsDeps): Shards {
  // Of leases that were taken away.
  let lost = 0;
  let isRegistered = false;
  let isLeaving = false;
  let positions: Positions = [];
  let validUntil = 0;
  let guardAt = 0;
  const grace = new TakeOverGrace({ leaseMs: LEASE_MS, silenceMs: SILENCE_MS });
  let warnedAt = Number.NEGATIVE_INFINITY;
  let hasLeftovers = false;
  let inFlight: () => string[] = () => [];
  const claims = new Set<Promise<unknown>>();
  let isStopped = false;
  let wake: () => void = () => {};

  /** @returns whether nothing is to be given up or taken */
  async function renew(): Promise<boolean> {
    const askedAt = performance.now();
    const takeOver = grace.allowed();
    if (askedAt >= guardAt) {
      await guardShards(pool, name, takeOver !== 'none');
      guardAt = askedAt + GUARD_MS;
    }
    const owner = ownerNow();
    if (!isRegistered) await registerRelay(pool, owner);
    isRegistered = true;
    const lease = await renewLease(pool, {
      owner,
      session: session.isHeld() ? name : null,
      takeOver,
      isLeaving,
    });
    grace.renewed();
    if (!lease) {
      registerAgain();
      return false;
    }
    hold(lease.kept);
    validUntil = askedAt + LEASE_MS - SAFETY_MS;
    if (hasLeftovers) await forgetDone(owner);
    if (lease.isSettled) return true;
    // Not by what it asked with: it may have stood still since then.
    if (await giveUp(owner, lease)) await take(owner, grace.allowed());
    return false;
  }

  const ownerNow = (): string => `${name}:${lost}`;

  function registerAgain(): void {
    log.warn('the lease of this relay was taken away; it registers again');
    [isRegistered, validUntil, hasLeftovers] = [false, 0, false];
    lost += 1;
    hold([]);
  }

  function hold(now: Positions): void {
    if (sizeOf(now) !== sizeOf(positions)) log.info({ positions: sizeOf(now) }, 'relay holds positions');
    positions = now;
  }

  /** @returns whether nothing is left to give up; what was is no longer claimed from, but a running claim may have */
  async function giveUp(from: string, { positions: before, kept }: Lease): Promise<boolean> {
    if (sizeOf(kept) === sizeOf(before)) return true;
    const running = [...claims];
    await Promise.race([Promise.allSettled(running), delay(RENEW_MS)]);
    if (running.some((claim) => claims.has(claim))) return false;
    const leftovers = inFlight().filter((id) => !isAmong(kept, positionOf(id)));
    // Before the call: its answer may be lost although they are written.
    hasLeftovers ||= leftovers.length > 0;
    await givePositionsUp(pool, from, kept, leftovers);
    return true;
  }

  async function forgetDone(from: string): Promise<void> {
    const left = inFlight().filter((id) => !isAmong(positions, positionOf(id)));
    await forgetLeftovers(pool, from, left);
    hasLeftovers = left.length > 0;
  }

  async function take(by: string, takeOver: TakeOver): Promise<void> {
    const taken = await takePositions(pool, by, takeOver);
    if (!taken) return;
    if (taken.buried > 0) log.info({ relays: taken.buried }, 'relays are gone; their positions are shared');
    hold(taken.positions);
  }

  function noteFailure(error: unknown): void {
    grace.cutOff();
    const now = performance.now();
    if (now - warnedAt < WARN_AGAIN_MS) return;
    warnedAt = now;
    log.warn({ cause: causeOf(error) }, 'shard leases could not be renewed');
  }

  async function keepRenewing(): Promise<void> {
    while (!isStopped) {
      let isSettled = true;
      try {
        isSettled = await renew();
      } catch (error) {
        noteFailure(error);
      }
      await pause(isSettled ? RENEW_MS : UNSETTLED_MS);
    }
  }
  const renewing = keepRenewing();

  async function pause(ms: number): Promise<void> {
    const ended = Promise.withResolvers<void>();
    wake = ended.resolve;
    const timer = setTimeout(ended.resolve, ms);
    await ended.promise;
    clearTimeout(timer);
  }

  return {
    held: () => (positions.length > 0 && performance.now() < validUntil ? { owner: ownerNow(), positions } : null),
    async duringClaim(claim) {
      const running = claim();
      claims.add(running);
      try {
        return await running;
      } finally {
        claims.delete(running);
      }
    },
    reportInFlight(deliveryIds) {
      inFlight = deliveryIds;
    },
    mayHaveBeenCutOff: () => grace.cutOff(),
    leave() {
      isLeaving = true;
      wake();
    },
    async release() {
      isStopped = true;
      wake();
      await renewing;
      positions = [];
      await endLease(pool, ownerNow(), name).catch((error: unknown) =>
        log.warn({ cause: causeOf(error) }, 'leases run out by themselves'),
      );
    },
  };
}

// Holds this relay's lease of positions (db/hot-path/relay-leases.ts), and knows at any time which of them it certainly owns.
import { setTimeout as delay } from 'node:timers/promises';
import type { Lane } from '../core/lane.ts';
import type { Log } from '../core/log.ts';
import { causeOf } from '../core/log-cause.ts';
import { TakeOverGrace, type TakeOver } from '../core/take-over-grace.ts';
import { isAmong, positionOf, type Positions, sizeOf } from '../core/positions.ts';
import {
  endLease,
  forgetLeftovers,
  givePositionsUp,
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
  /** The lane that it takes now, and its version, for operators. */
  lane: () => Lane;
  version: string;
  /** Called when the share of this relay has changed, so relays came or went; before it gives anything up to a new one. */
  onShare: () => void;
  log: Log;
}

export interface Shards {
  /** What is held now; null when that is nothing, or the lease could not be renewed in time. */
  held(): Held | null;
  /** What it held last, whether its lease is still valid or not. */
  positions(): Positions;
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
export const holdShards = (deps: ShardsDeps): Shards => new HeldShards(deps);

class HeldShards implements Shards {
  readonly #deps: ShardsDeps;
  readonly #grace = new TakeOverGrace({ leaseMs: LEASE_MS, silenceMs: SILENCE_MS });
  readonly #claims = new Set<Promise<unknown>>();
  readonly #renewing: Promise<void>;
  /** Of leases that were taken away. */
  #lost = 0;
  #isRegistered = false;
  #isLeaving = false;
  #isStopped = false;
  #positions: Positions = [];
  #validUntil = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;
  #hasLeftovers = false;
  #inFlight: () => string[] = () => [];
  #wake: () => void = () => {};

  constructor(deps: ShardsDeps) {
    this.#deps = deps;
    this.#renewing = this.#keepRenewing();
  }

  held(): Held | null {
    if (this.#positions.length === 0 || performance.now() >= this.#validUntil) return null;
    return { owner: this.#owner, positions: this.#positions };
  }

  positions(): Positions {
    return this.#positions;
  }

  async duringClaim<T>(claim: () => Promise<T>): Promise<T> {
    const running = claim();
    this.#claims.add(running);
    try {
      return await running;
    } finally {
      this.#claims.delete(running);
    }
  }

  reportInFlight(deliveryIds: () => string[]): void {
    this.#inFlight = deliveryIds;
  }

  mayHaveBeenCutOff(): void {
    this.#grace.cutOff();
  }

  leave(): void {
    this.#isLeaving = true;
    this.#wake();
  }

  async release(): Promise<void> {
    const { pool, log } = this.#deps;
    this.#isStopped = true;
    this.#wake();
    await this.#renewing;
    this.#positions = [];
    await endLease(pool, this.#owner).catch((error: unknown) =>
      log.warn({ cause: causeOf(error) }, 'leases run out by themselves'),
    );
  }

  get #owner(): string {
    return `${this.#deps.name}:${this.#lost}`;
  }

  async #keepRenewing(): Promise<void> {
    while (!this.#isStopped) {
      let isSettled = true;
      try {
        isSettled = await this.#renew();
      } catch (error) {
        this.#noteFailure(error);
      }
      await this.#pause(isSettled ? RENEW_MS : UNSETTLED_MS);
    }
  }

  /** @returns whether nothing is to be given up or taken */
  async #renew(): Promise<boolean> {
    const { pool, name, session, lane, version } = this.#deps;
    const askedAt = performance.now();
    const takeOver = this.#grace.allowed();
    const owner = this.#owner;
    if (!this.#isRegistered) await registerRelay(pool, owner);
    this.#isRegistered = true;
    const lease = await renewLease(pool, {
      owner,
      session: session.isHeld() ? name : null,
      takeOver,
      isLeaving: this.#isLeaving,
      lane: lane(),
      version,
    });
    this.#grace.renewed();
    if (!lease) {
      this.#registerAgain();
      return false;
    }
    this.#hold(lease.kept);
    this.#validUntil = askedAt + LEASE_MS - SAFETY_MS;
    if (this.#hasLeftovers) await this.#forgetDone(owner);
    if (lease.isSettled) return true;
    // Not by what it asked with: it may have stood still since then.
    if (await this.#giveUp(owner, lease)) await this.#take(owner, this.#grace.allowed());
    return false;
  }

  #registerAgain(): void {
    this.#deps.log.warn('the lease of this relay was taken away; it registers again');
    this.#isRegistered = false;
    this.#validUntil = 0;
    this.#hasLeftovers = false;
    this.#lost += 1;
    this.#hold([]);
  }

  #hold(now: Positions): void {
    const isShareChanged = sizeOf(now) !== sizeOf(this.#positions);
    this.#positions = now;
    if (!isShareChanged) return;
    this.#deps.log.info({ positions: sizeOf(now) }, 'relay holds positions');
    this.#deps.onShare();
  }

  /** @returns whether nothing is left to give up; what was is no longer claimed from, but a running claim may have */
  async #giveUp(from: string, { positions: before, kept }: Lease): Promise<boolean> {
    if (sizeOf(kept) === sizeOf(before)) return true;
    const running = [...this.#claims];
    await Promise.race([Promise.allSettled(running), delay(RENEW_MS)]);
    if (running.some((claim) => this.#claims.has(claim))) return false;
    const leftovers = this.#inFlight().filter((id) => !isAmong(kept, positionOf(id)));
    // Before the call: its answer may be lost although they are written.
    this.#hasLeftovers ||= leftovers.length > 0;
    await givePositionsUp(this.#deps.pool, from, kept, leftovers);
    return true;
  }

  async #forgetDone(from: string): Promise<void> {
    const left = this.#inFlight().filter((id) => !isAmong(this.#positions, positionOf(id)));
    await forgetLeftovers(this.#deps.pool, from, left);
    this.#hasLeftovers = left.length > 0;
  }

  async #take(by: string, takeOver: TakeOver): Promise<void> {
    const { pool, log } = this.#deps;
    const taken = await takePositions(pool, by, takeOver);
    if (!taken) return;
    if (taken.buried > 0) log.info({ relays: taken.buried }, 'relays are gone; their positions are shared');
    this.#hold(taken.positions);
  }

  #noteFailure(error: unknown): void {
    this.#grace.cutOff();
    const now = performance.now();
    if (now - this.#warnedAt < WARN_AGAIN_MS) return;
    this.#warnedAt = now;
    this.#deps.log.warn({ cause: causeOf(error) }, 'shard leases could not be renewed');
  }

  async #pause(ms: number): Promise<void> {
    const ended = Promise.withResolvers<void>();
    this.#wake = ended.resolve;
    const timer = setTimeout(ended.resolve, ms);
    await ended.promise;
    clearTimeout(timer);
  }
}

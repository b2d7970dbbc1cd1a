// Keeps this worker's row and its share of the shards (db/hot-path/shards.ts), and knows which of them it owns.
import { setTimeout as delay } from 'node:timers/promises';
import type { Lane } from '../../core/delivery/delivery.ts';
import { type Log, throttled } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { type Pause, PollLoop } from '../../core/process/poll-loop.ts';
import type { Queryable } from '../../db/connections/pool.ts';
import {
  type Beat,
  beat,
  DEAD_MS,
  endWorker,
  giveUp,
  registerWorker,
  removeDead,
  takeShards,
} from '../../db/hot-path/shards.ts';

const BEAT_MS = 1000;
const AFTER_ERROR_MS = 250;
// How long shards are not given up because a claim that may have found something there is still running.
const CLAIM_MS = 250;
// After a longer gap between its own beats it does not know how long those of the others have stood still.
const GAP_MS = 2 * BEAT_MS;

export interface Held {
  owner: string;
  shards: readonly number[];
}

export interface ShardsDeps {
  /** The connection that listens (db/hot-path/outbox-listener.ts): a beat that is answered shows that it lives. */
  db: Queryable;
  /** Of the process; no other one has it. */
  name: string;
  lane: () => Lane;
  version: string;
  /** Called when it has other shards than before, or workers came or went. */
  onChange: () => void;
  log: Log;
}

/**
 * The beats of a worker, and the shards that it owns. They begin with the constructor. Failure policy: while the
 * database is away nothing is claimed. When it is back the worker goes on with the shards that it had, and takes those
 * of workers that do not come back.
 */
export class Shards {
  readonly #deps: ShardsDeps;
  readonly #claims = new Set<Promise<unknown>>();
  readonly #loop: PollLoop;
  #shards: readonly number[] = [];
  #workers = 1;
  #validUntil = 0;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #others = new Map<string, { beat: string; since: number }>();
  #isLeaving = false;
  #hasHandedOver = false;
  #inFlight: () => { id: string; shard: number }[] = () => [];

  constructor(deps: ShardsDeps) {
    this.#deps = deps;
    this.#loop = new PollLoop({
      round: async () => ({ ms: await this.#round(), wokenMs: 0 }),
      onError: (error) => this.#failed(error),
    });
  }

  /** What is held now; null when that is nothing, or others may have taken it. */
  held(): Held | null {
    if (this.#shards.length === 0 || performance.now() >= this.#validUntil) return null;
    return { owner: this.#deps.name, shards: this.#shards };
  }

  get workers(): number {
    return this.#workers;
  }

  /** Runs a claim. Shards are given up only after the claims that may have found something there. */
  async duringClaim<T>(claim: () => Promise<T>): Promise<T> {
    const running = claim();
    this.#claims.add(running);
    try {
      return await running;
    } finally {
      this.#claims.delete(running);
    }
  }

  /** Sets what tells the deliveries in flight: others must not start them when their shards are given up. */
  reportInFlight(deliveries: () => { id: string; shard: number }[]): void {
    this.#inFlight = deliveries;
  }

  wake(): void {
    this.#loop.wake();
  }

  /** Gives all shards up: from now on others start what waits, without what is in flight here. Resolves at once. */
  leave(): void {
    this.#isLeaving = true;
    this.wake();
  }

  async release(): Promise<void> {
    const { db, name, log } = this.#deps;
    await this.#loop.stop();
    this.#shards = [];
    await endWorker(db, name).catch((error: unknown) =>
      log.warn(
        { cause: causeOf(error) },
        'failed to unregister this worker; other workers will take over its shards after a timeout',
      ),
    );
  }

  /** @returns after how many ms the next one is due */
  async #round(): Promise<number> {
    const { db, name, lane, version, log } = this.#deps;
    const askedAt = performance.now();
    const handedOver = this.#hasHandedOver ? this.#elsewhere(this.#shards) : [];
    this.#hasHandedOver = handedOver.length > 0;
    const found = await beat(db, { name, isLeaving: this.#isLeaving, lane: lane(), version, handedOver });
    if (found === null) {
      if (this.#validUntil > 0) log.warn("this worker's shards were taken over; registering again");
      this.#hold([], 1);
      // Others may have started what is in flight here, but need not start the rest of it.
      this.#hasHandedOver = true;
      await registerWorker(db, name);
      return 0;
    }
    this.#validUntil = askedAt + DEAD_MS;
    const dead = this.#deadAmong(found.beats, askedAt);
    if (dead.size > 0 && (await removeDead(db, dead)) > 0)
      log.info({ workers: dead.size }, 'workers have stopped; other workers are taking over their shards');
    if (found.shards.length > found.share) await this.#giveUp(found);
    else await this.#take(found);
    return BEAT_MS;
  }

  /** @returns others whose beat has stood still for too long, with that beat */
  #deadAmong(beats: Beat['beats'], askedAt: number): Map<string, string> {
    const now = performance.now();
    const before = now - this.#answeredAt < GAP_MS ? this.#others : new Map<string, { beat: string; since: number }>();
    this.#answeredAt = now;
    this.#others = new Map();
    const dead = new Map<string, string>();
    for (const [name, current] of Object.entries(beats)) {
      const known = before.get(name);
      const seen = known?.beat === current ? known : { beat: current, since: now };
      this.#others.set(name, seen);
      if (askedAt - seen.since >= DEAD_MS) dead.set(name, current);
    }
    return dead;
  }

  /** What is given up is no longer claimed from, but a running claim may have found something there. */
  async #giveUp({ shards, share, workers }: Beat): Promise<void> {
    this.#hold(shards.slice(0, share), workers);
    const running = [...this.#claims];
    await Promise.race([Promise.allSettled(running), delay(CLAIM_MS)]);
    if (running.some((claim) => this.#claims.has(claim))) return this.wake();
    // Before the call: its answer may be lost although they are written.
    const inFlight = this.#elsewhere(this.#shards);
    this.#hasHandedOver = inFlight.length > 0;
    await giveUp(this.#deps.db, this.#deps.name, shards.slice(share), inFlight);
  }

  async #take({ shards, share, workers }: Beat): Promise<void> {
    const { db, name } = this.#deps;
    const taken = shards.length < share ? await takeShards(db, name, share - shards.length) : [];
    this.#hold(
      [...shards, ...taken].toSorted((a, b) => a - b),
      workers,
    );
  }

  #hold(shards: readonly number[], workers: number): void {
    const isChanged = shards.join() !== this.#shards.join();
    const isOther = isChanged || workers !== this.#workers;
    this.#shards = shards;
    this.#workers = workers;
    if (isChanged) this.#deps.log.info({ shards: shards.length }, "the relay's shards have changed");
    if (isOther) this.#deps.onChange();
  }

  #elsewhere(shards: readonly number[]): string[] {
    const own = new Set(shards);
    return this.#inFlight().flatMap(({ id, shard }) => (own.has(shard) ? [] : [id]));
  }

  #failed(error: unknown): Pause {
    this.#others.clear();
    // At the start, the connection is not there yet.
    if (this.#validUntil > 0)
      throttled(this.#deps.log).warn({ cause: causeOf(error) }, "failed to renew this worker's registration");
    return { ms: AFTER_ERROR_MS, wokenMs: 0 };
  }
}

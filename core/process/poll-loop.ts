// Polling: a loop of rounds with pauses in between that can be woken and stopped, and a probe that caches its result.

export interface Pause {
  /** ms; with 0 the next round follows at once. */
  ms: number;
  /** How soon after the round waking it brings the next one, ms. Without it, that does not shorten this pause. */
  wokenMs?: number;
}

export interface PollLoopOptions {
  round: () => Promise<Pause>;
  onError: (error: unknown) => Pause;
}

/** Rounds never overlap. */
export class PollLoop {
  readonly #options: PollLoopOptions;
  readonly #ended: Promise<void>;
  #stopped = false;
  #isWoken = false;
  /** Undefined during a round. */
  #pausing: { since: number; wokenMs: number | undefined; endIn: (ms: number) => void } | undefined;

  /** The first round begins right after the current turn of the event loop, so that its owner is fully constructed. */
  constructor(options: PollLoopOptions) {
    this.#options = options;
    this.#ended = Promise.resolve().then(() => this.#run());
  }

  get isPaused(): boolean {
    return this.#pausing !== undefined;
  }

  /** Brings the next round forward, as far as the pause allows. */
  wake(): void {
    if (!this.#pausing) {
      this.#isWoken = true;
      return;
    }
    const { since, wokenMs, endIn } = this.#pausing;
    if (wokenMs !== undefined) endIn(since + wokenMs - performance.now());
  }

  /** Ends the pause at once, however short it was. Does nothing during a round. */
  endPause(): void {
    this.#pausing?.endIn(0);
  }

  /** Starts no further round. Resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.endPause();
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.#isWoken = false;
      const { ms, wokenMs } = await this.#options.round().catch(this.#options.onError);
      const isWokenEarly = this.#isWoken && wokenMs !== undefined;
      if (!this.#stopped) await this.#pause(isWokenEarly ? Math.min(ms, wokenMs) : ms, wokenMs);
    }
  }

  async #pause(ms: number, wokenMs: number | undefined): Promise<void> {
    if (ms <= 0) return;
    const since = performance.now();
    const over = Promise.withResolvers<void>();
    let endsAt = since + ms;
    // The loop does not keep its process alive.
    let timer = setTimeout(over.resolve, ms).unref();
    const endIn = (sooner: number) => {
      if (sooner <= 0) return over.resolve();
      const at = performance.now() + sooner;
      if (at >= endsAt) return;
      endsAt = at;
      clearTimeout(timer);
      timer = setTimeout(over.resolve, sooner).unref();
    };
    this.#pausing = { since, wokenMs, endIn };
    await over.promise;
    clearTimeout(timer);
    this.#pausing = undefined;
  }
}

/** A loop with the same pause after each round. */
export function every(ms: number, work: () => Promise<void>, onError: (error: unknown) => void): PollLoop {
  return new PollLoop({
    async round() {
      await work();
      return { ms };
    },
    onError(error) {
      onError(error);
      return { ms };
    },
  });
}

/** How long a result is valid, ms: less than the usual probe interval of load balancers. */
const KEPT_MS = 500;
export const UNREACHABLE = 'cannot be reached';

/** One check at a time for all callers; its result is cached for a moment. */
export class CachedProbe<Found = string | null> {
  readonly #ask: () => Promise<Found>;
  readonly #onError: (error: unknown) => Found;
  #found: { result: Found; at: number } | undefined;
  #underWay: Promise<void> | undefined;

  /**
   * @param ask finds something out; by default what is wrong with a server, or null. It must have its own timeout
   * @param onError what is found when it rejects; by default that the server cannot be reached
   */
  constructor(ask: () => Promise<Found>, onError: (error: unknown) => Found = () => UNREACHABLE as Found) {
    this.#ask = ask;
    this.#onError = onError;
  }

  /** Result of the last completed check; undefined before the first. */
  get last(): Found | undefined {
    return this.#found?.result;
  }

  /** @returns what is found, undefined without an answer within `waitMs` */
  async within(waitMs: number): Promise<Found | undefined> {
    if (this.#found && performance.now() - this.#found.at < KEPT_MS) return this.#found.result;
    this.#underWay ??= this.#look();
    const { promise: tooLate, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => resolve(undefined), waitMs);
    const answered = this.#underWay.then(() => this.last);
    return Promise.race([answered, tooLate]).finally(() => clearTimeout(timer));
  }

  async #look(): Promise<void> {
    const result = await this.#ask().catch(this.#onError);
    this.#found = { result, at: performance.now() };
    this.#underWay = undefined;
  }
}

const EVERY_MS = 1000;
const REST = 19;
const LONGEST_REST_MS = 10_000;

/**
 * Polls something whose cost grows with its size: each poll is followed by a rest of nineteen times its duration, so it
 * takes a twentieth of a core. But one that took long because the machine or PostgreSQL was busy must not leave ingest
 * with old figures for minutes.
 * @param look must never reject
 * @param idleMs how long to rest at least, however little a poll costs, ms; 0 while it is needed
 */
export function adaptivePoll(look: () => Promise<void>, idleMs: () => number = () => 0): PollLoop {
  return new PollLoop({
    async round() {
      const startedAt = performance.now();
      await look();
      return { ms: Math.max(restAfter(performance.now() - startedAt), idleMs()) };
    },
    onError: () => ({ ms: EVERY_MS }),
  });
}

/** ms. @param tookMs duration of the poll */
export const restAfter = (tookMs: number): number => Math.min(Math.max(EVERY_MS, tookMs * REST), LONGEST_REST_MS);

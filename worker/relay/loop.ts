// When the relay claims: a loop with named states.
//
// Ingest notifies at most once in 250 ms (api/ingest/event-writer.ts): what it commits in that time is claimed by
// relays that are active, and go on claiming for longer than that. So a relay rests only after claims that began 500 ms
// after the last news, and have examined everything.
import { type Pause, PollLoop } from '../../core/process/poll-loop.ts';

// Between claims, so one that is active claims what comes as a group; longer by 1 ms for each other worker, because all
// share PostgreSQL.
const CLAIM_MS = 15;
// The same after a claim that was too small for a destination: what it has sent by then makes room for as many.
const NEXT_CLAIM_MS = 5;
// Longer than ingest is silent after a notification.
const QUIET_MS = 500;
// Rest of a relay that is notified of what comes: a notification gets lost when an API process is killed right after
// its commit.
const NOTIFIED_MS = 10_000;
const POLL_MS = 100;
// Rest after an error of the database or of Temporal.
const ERROR_MS = 1000;
// It is woken when there is a slot or a shard; so often it looks after deliveries whose result is overdue.
const LOOK_MS = 1000;

/**
 * `starting`: it owns no shards yet, or none any more. `active`: it claims again and again. `idle`: there is nothing to
 * start until it is notified. `full`: it has no slot for another delivery. `backing off`: its last round failed.
 * `draining`: it claims nothing any more.
 */
export type RelayState = 'starting' | 'active' | 'idle' | 'full' | 'backing off' | 'draining';

export interface RelayLoopDeps {
  owns: () => boolean;
  free: () => number;
  hears: () => boolean;
  workers: () => number;
  /** Claims once, and starts what it finds. @returns whether it found anything */
  round: (isQuiet: boolean) => Promise<boolean>;
  /** Whether the last round has left rows of a destination because a claim takes no more. */
  hasMore: () => boolean;
  /** Whether the quiet rounds until now have examined everything. */
  isSwept: () => boolean;
  /** Before each rest. */
  look: () => void;
  /** When there is something to do without news, ms from now. */
  dueInMs: () => number;
  onError: (error: unknown) => void;
}

export class RelayLoop {
  readonly #deps: RelayLoopDeps;
  readonly #loop: PollLoop;
  #state: RelayState = 'starting';
  #wokenAt = performance.now();

  constructor(deps: RelayLoopDeps) {
    this.#deps = deps;
    this.#loop = new PollLoop({
      round: async () => this.#endStep(await this.#step()),
      onError: (error) => {
        deps.onError(error);
        this.#become('backing off');
        return this.#endStep({ ms: ERROR_MS });
      },
    });
  }

  get state(): RelayState {
    return this.#state;
  }

  wake(): void {
    this.#wokenAt = performance.now();
    this.#loop.wake();
  }

  async stop(): Promise<void> {
    this.#become('draining');
    await this.#loop.stop();
  }

  #endStep(rest: Pause): Pause {
    this.#deps.look();
    return rest;
  }

  async #step(): Promise<Pause> {
    const { owns, free, round, isSwept, hears, dueInMs } = this.#deps;
    const wasFull = this.#state === 'full';
    if (!owns()) {
      this.#become('starting');
      return { ms: LOOK_MS, wokenMs: 0 };
    }
    if (free() <= 0) {
      this.#become('full');
      return { ms: LOOK_MS, wokenMs: 0 };
    }
    this.#become('active');
    // Slots become free one by one: what is free by then is claimed as a group.
    if (wasFull) return { ms: this.#claimMs, wokenMs: 0 };
    const isQuiet = this.#isQuiet;
    if (await round(isQuiet)) this.#wokenAt = performance.now();
    if (!isQuiet || !this.#isQuiet || !isSwept()) return { ms: this.#claimMs };
    this.#become('idle');
    return { ms: Math.max(1, Math.min(hears() ? NOTIFIED_MS : POLL_MS, dueInMs())), wokenMs: 0 };
  }

  get #isQuiet(): boolean {
    return performance.now() - this.#wokenAt >= QUIET_MS;
  }

  get #claimMs(): number {
    const { hasMore, workers } = this.#deps;
    return (hasMore() ? NEXT_CLAIM_MS : CLAIM_MS) + Math.max(0, workers() - 1);
  }

  /** Nothing leaves `draining`: it may have been told to stop during a round. */
  #become(next: RelayState): void {
    if (this.#state !== 'draining') this.#state = next;
  }
}

/** Work that a loop starts and does not wait for. */
export class BackgroundTasks {
  readonly #running = new Set<Promise<unknown>>();
  readonly #failed: () => void;
  #error: unknown;

  constructor(failed: () => void = () => {}) {
    this.#failed = failed;
  }

  run(task: Promise<unknown>): void {
    const watched = task
      .catch((error: unknown) => {
        this.#error ??= error;
        this.#failed();
      })
      .finally(() => this.#running.delete(watched));
    this.#running.add(watched);
  }

  /** Throws the first error of a task since the last call; the loop handles it like its own error. */
  throwError(): void {
    const error = this.#error;
    this.#error = undefined;
    if (error !== undefined) throw error;
  }

  /** Resolves when no task is running, those included that others have begun meanwhile. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

/** @returns a function that runs the task; it does nothing while the task is running */
export function oneAtATime(task: () => Promise<void>): () => Promise<void> {
  let isRunning = false;
  return async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await task();
    } finally {
      isRunning = false;
    }
  };
}

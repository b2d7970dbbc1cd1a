// When the relay claims: a loop with named states.
//
// Ingest notifies at most once in 250 ms (api/ingest/event-writer.ts): what it commits in that time is claimed by
// relays that are active, and go on claiming for longer than that. So a relay rests only after claims that began 500 ms
// after the last news, and have examined everything.

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

const NEXT: Record<RelayState, readonly RelayState[]> = {
  starting: ['active', 'full', 'draining'],
  active: ['starting', 'idle', 'full', 'backing off', 'draining'],
  idle: ['starting', 'active', 'full', 'draining'],
  full: ['starting', 'active', 'draining'],
  'backing off': ['starting', 'active', 'full', 'draining'],
  draining: [],
};

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
  /** A monotonic clock in ms. */
  now?: () => number;
}

export class RelayLoop {
  readonly #deps: RelayLoopDeps;
  readonly #now: () => number;
  readonly #ended: Promise<void>;
  #state: RelayState = 'starting';
  #wokenAt: number;
  #isWoken = false;
  #endRest: () => void = () => {};

  /** The first round begins right after the current turn of the event loop, so that its owner is fully constructed. */
  constructor(deps: RelayLoopDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
    this.#wokenAt = this.#now();
    this.#ended = Promise.resolve().then(() => this.#run());
  }

  get state(): RelayState {
    return this.#state;
  }

  wake(): void {
    this.#wokenAt = this.#now();
    this.#isWoken = true;
    if (this.#waits) this.#endRest();
  }

  /** Claims nothing any more. */
  async stop(): Promise<void> {
    this.#become('draining');
    this.#endRest();
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (this.#state !== 'draining') {
      await this.#step().catch((error: unknown) => {
        this.#deps.onError(error);
        this.#become('backing off');
      });
      this.#deps.look();
      await this.#rest();
    }
  }

  async #step(): Promise<void> {
    const { owns, free, round, isSwept } = this.#deps;
    this.#isWoken = false;
    if (!owns()) return this.#become('starting');
    if (free() <= 0) return this.#become('full');
    this.#become('active');
    const isQuiet = this.#now() - this.#wokenAt >= QUIET_MS;
    if (await round(isQuiet)) this.#wokenAt = this.#now();
    else if (isQuiet && !this.#isWoken && isSwept()) this.#become('idle');
  }

  /** Nothing leaves `draining`: it may have been told to stop during a round. */
  #become(next: RelayState): void {
    const state = this.#state;
    if (next === state || state === 'draining') return;
    if (!NEXT[state].includes(next)) throw new Error(`The relay cannot go from ${state} to ${next}`);
    this.#state = next;
  }

  get #waits(): boolean {
    return this.#state === 'idle' || this.#state === 'full' || this.#state === 'starting';
  }

  get #claimMs(): number {
    const { hasMore, workers } = this.#deps;
    return (hasMore() ? NEXT_CLAIM_MS : CLAIM_MS) + Math.max(0, workers() - 1);
  }

  #restMs(): number {
    const { hears, dueInMs } = this.#deps;
    if (this.#isWoken && this.#waits) return 0;
    switch (this.#state) {
      case 'active':
        return this.#claimMs;
      case 'idle':
        return Math.max(1, Math.min(hears() ? NOTIFIED_MS : POLL_MS, dueInMs()));
      case 'backing off':
        return ERROR_MS;
      case 'draining':
        return 0;
      default:
        return LOOK_MS;
    }
  }

  async #rest(): Promise<void> {
    const wasFull = this.#state === 'full';
    await this.#restFor(this.#restMs());
    // Slots become free one by one: what is free by then is claimed as a group.
    if (wasFull) await this.#restFor(this.#claimMs);
  }

  async #restFor(ms: number): Promise<void> {
    if (ms === 0 || this.#state === 'draining') return;
    const over = Promise.withResolvers<void>();
    this.#endRest = over.resolve;
    // The loop does not keep its process alive.
    const timer = setTimeout(over.resolve, ms).unref();
    await over.promise;
    clearTimeout(timer);
  }
}

/** Work that a loop starts and does not wait for. */
export class BackgroundTasks {
  readonly #running = new Set<Promise<void>>();
  readonly #failed: () => void;
  #error: unknown;

  /** @param failed called when a task fails */
  constructor(failed: () => void = () => {}) {
    this.#failed = failed;
  }

  run(task: Promise<void>): void {
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

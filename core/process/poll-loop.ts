// A polling loop: rounds with rests in between; it can be nudged and stopped.

/** How long a loop rests after a round. */
export interface Rest {
  /** ms; with 0 the next round follows at once. */
  ms: number;
  /** How soon after the round a nudge brings the next one, ms. Without it, nudges do not shorten this rest. */
  nudgedMs?: number;
}

export interface PollLoopOptions {
  /** One round of work. Rounds never overlap. */
  round: () => Promise<Rest>;
  /** Called with what a round throws. */
  onError: (error: unknown) => Rest;
}

export class PollLoop {
  readonly #options: PollLoopOptions;
  readonly #ended: Promise<void>;
  #stopped = false;
  /** Nudged since the current round began. */
  #nudged = false;
  /** Undefined during a round. */
  #resting: { since: number; nudgedMs: number | undefined; endIn: (ms: number) => void } | undefined;

  /** The first round begins right after the current turn of the event loop, so that its owner is fully constructed. */
  constructor(options: PollLoopOptions) {
    this.#options = options;
    this.#ended = Promise.resolve().then(() => this.#run());
  }

  get isResting(): boolean {
    return this.#resting !== undefined;
  }

  /** Brings the next round forward, as far as the rest allows. */
  nudge(): void {
    if (!this.#resting) {
      this.#nudged = true;
      return;
    }
    const { since, nudgedMs, endIn } = this.#resting;
    if (nudgedMs !== undefined) endIn(since + nudgedMs - performance.now());
  }

  /** Ends the rest at once, however short it was. Does nothing during a round. */
  wake(): void {
    this.#resting?.endIn(0);
  }

  /** Starts no further round. Resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.wake();
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.#nudged = false;
      const { ms, nudgedMs } = await this.#options.round().catch(this.#options.onError);
      const isNudged = this.#nudged && nudgedMs !== undefined;
      if (!this.#stopped) await this.#rest(isNudged ? Math.min(ms, nudgedMs) : ms, nudgedMs);
    }
  }

  async #rest(ms: number, nudgedMs: number | undefined): Promise<void> {
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
    this.#resting = { since, nudgedMs, endIn };
    await over.promise;
    clearTimeout(timer);
    this.#resting = undefined;
  }
}

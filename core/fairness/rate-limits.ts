// Two ways to limit a rate in one process: a bucket of tokens, and counts in windows of time.

// A token bucket: limits a rate over time and lets a burst of one second through (W. Turner, "New directions in
// communications", 1986). Times are ms of a monotonic clock.

export class TokenBucket {
  #perSecond: number;
  #tokens: number;
  #filledAt: number;

  /** @param perSecond how many may pass in a second; Infinity: no limit */
  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#tokens = perSecond;
    this.#filledAt = nowMs;
  }

  has(nowMs: number): boolean {
    this.#fill(nowMs);
    return this.#tokens >= 1;
  }

  /** @returns false when none may pass now */
  take(nowMs: number): boolean {
    if (!this.has(nowMs)) return false;
    this.#tokens -= 1;
    return true;
  }

  giveBack(): void {
    this.#tokens += 1;
  }

  /** How long until one may pass, ms; Infinity when none ever may. */
  waitMs(nowMs: number): number {
    if (this.has(nowMs)) return 0;
    return ((1 - this.#tokens) / this.#perSecond) * 1000;
  }

  /** Takes what has passed elsewhere: at most so much that the bucket recovers within a second. */
  drain(passed: number, nowMs: number): void {
    this.#fill(nowMs);
    this.#tokens = Math.max(this.#tokens - passed, -this.#perSecond);
  }

  limit(perSecond: number, nowMs: number): void {
    if (perSecond === this.#perSecond) return;
    this.#fill(nowMs);
    // A bucket without a limit has no count of its own.
    this.#tokens = Number.isFinite(this.#tokens) ? Math.min(this.#tokens, perSecond) : perSecond;
    this.#perSecond = perSecond;
  }

  #fill(nowMs: number): void {
    const earned = ((nowMs - this.#filledAt) / 1000) * this.#perSecond;
    this.#filledAt = nowMs;
    if (Number.isFinite(this.#perSecond)) this.#tokens = Math.min(this.#perSecond, this.#tokens + earned);
  }
}

// How often something happened in the current window of time, by name, in this process. Windows are those of the clock,
// so twice as much may pass around the end of one.

/** More names than a limit share one count. */
const OTHERS = 'others';

interface WindowCountsOptions {
  /** ms */
  windowMs: number;
  /** Names that are counted apart in a window; by default all. To be given where strangers choose them. */
  mostNames?: number;
  /** Called when a window has passed in which something was counted, at the next use. */
  onPassed?: (counts: ReadonlyMap<string, number>) => void;
}

export class WindowCounts {
  readonly #options: WindowCountsOptions;
  #window = -1;
  #counts = new Map<string, number>();

  constructor(options: WindowCountsOptions) {
    this.#options = options;
  }

  /** Counts one more. @returns how many there are in this window, with this one */
  add(name: string): number {
    this.#begin();
    const place = this.#placeOf(name);
    const count = (this.#counts.get(place) ?? 0) + 1;
    this.#counts.set(place, count);
    return count;
  }

  of(name: string): number {
    this.#begin();
    return this.#counts.get(this.#placeOf(name)) ?? 0;
  }

  /** When the current window ends, ms since 1970. */
  get endsAt(): number {
    return (this.#current + 1) * this.#options.windowMs;
  }

  get #current(): number {
    return Math.floor(Date.now() / this.#options.windowMs);
  }

  #placeOf(name: string): string {
    const { mostNames = Number.POSITIVE_INFINITY } = this.#options;
    return this.#counts.has(name) || this.#counts.size < mostNames ? name : OTHERS;
  }

  #begin(): void {
    const current = this.#current;
    if (current === this.#window) return;
    const passed = this.#counts;
    this.#window = current;
    this.#counts = new Map();
    if (passed.size > 0) this.#options.onPassed?.(passed);
  }
}

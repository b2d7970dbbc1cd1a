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

// Lets through the first of equal happenings in a minute: for what a tenant can cause without end, and what is stored for each.

// For each tenant, so that none uses up the room of another; this bounds memory and what is stored.
const MOST_PER_OWNER = 200;

/** What was let through in the current minute, in this process. */
export class FirstOfMinute {
  readonly #most: number;
  #minute = -1;
  #seen = new Map<string, Set<string>>();

  /** @param most different ones of one owner in a minute */
  constructor(most: number = MOST_PER_OWNER) {
    this.#most = most;
  }

  /** Whether one of these was let through in this minute. */
  has(owner: string, what: string): boolean {
    return this.#of(owner).has(what);
  }

  /** Whether it is the first of its owner in this minute. Beyond the most different ones no further one is. */
  take(owner: string, what: string): boolean {
    const seen = this.#of(owner);
    if (seen.has(what) || seen.size >= this.#most) return false;
    seen.add(what);
    return true;
  }

  /** It came to nothing: the next one is the first again. */
  giveBack(owner: string, what: string): void {
    this.#of(owner).delete(what);
  }

  #of(owner: string): Set<string> {
    const minute = Math.floor(Date.now() / 60_000);
    if (minute !== this.#minute) this.#seen.clear();
    this.#minute = minute;
    const seen = this.#seen.get(owner) ?? new Set();
    this.#seen.set(owner, seen);
    return seen;
  }
}

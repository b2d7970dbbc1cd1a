// Requests with wrong credentials, counted for each client address (an IPv4 address, or the /64 of an IPv6 one) in this process.
// Beyond the limit they are answered 429. A valid key is let in from every address whatever others there do: behind one NAT or proxy
// a stranger must not lock out a tenant. What guesses may cost is bounded instead: keys that this process has not seen before are
// looked up two at a time for all addresses beyond their limit.
// Rules: AUTH-22.
import { clientOf } from '../core/address-ranges.ts';
import type { Log } from '../core/log.ts';
import { ApiError } from './errors.ts';

const WINDOW_MS = 60_000;
/** More addresses than these share one count until the minute ends. */
const MAX_ADDRESSES = 10_000;
const OTHERS = 'others';
/** Keys that were valid; the oldest are forgotten. */
const MAX_KNOWN_KEYS = 10_000;
const LOOKUPS_AT_ONCE = 2;
const MAX_WAITING = 50;

export interface SignIns {
  /** Looks a key up; from an address beyond its limit only in turn. @param keyHash identifies the key @throws ApiError 429 */
  lookUp<T>(address: string, keyHash: string, find: () => Promise<T | null>): Promise<T | null>;
  /** Counts a request with wrong credentials. @returns the error to answer with: 429 beyond the limit, else null */
  fail(address: string): ApiError | null;
}

/** @param perMinute wrong credentials of one address that are answered 401; 0 turns the limit off */
export function createSignIns(perMinute: number, log: Log): SignIns {
  const failures = new FailureCounts(log);
  const known = new Set<string>();
  const queue = new ShortQueue();

  async function remembered<T>(keyHash: string, find: () => Promise<T | null>): Promise<T | null> {
    const found = await find();
    // One that was revoked or has expired is no longer known.
    if (found === null) known.delete(keyHash);
    else remember(keyHash);
    return found;
  }

  function remember(keyHash: string): void {
    if (known.has(keyHash)) return;
    const [oldest] = known;
    if (known.size >= MAX_KNOWN_KEYS && oldest !== undefined) known.delete(oldest);
    known.add(keyHash);
  }

  return {
    lookUp(address, keyHash, find) {
      if (perMinute === 0 || known.has(keyHash) || failures.of(address) < perMinute) return remembered(keyHash, find);
      return queue.run(() => remembered(keyHash, find));
    },
    fail(address) {
      if (perMinute === 0) return null;
      return failures.add(address) > perMinute ? tooMany(failures.secondsLeft()) : null;
    },
  };
}

/** A fixed window of one minute. */
class FailureCounts {
  readonly #log: Log;
  #window = -1;
  #counts = new Map<string, number>();
  #total = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  of(address: string): number {
    this.#begin();
    return this.#counts.get(this.#placeOf(address)) ?? 0;
  }

  add(address: string): number {
    this.#begin();
    const place = this.#placeOf(address);
    const count = (this.#counts.get(place) ?? 0) + 1;
    this.#counts.set(place, count);
    this.#total += 1;
    return count;
  }

  secondsLeft(): number {
    return Math.ceil((WINDOW_MS - (Date.now() % WINDOW_MS)) / 1000);
  }

  #placeOf(address: string): string {
    const client = clientOf(address);
    return this.#counts.has(client) || this.#counts.size < MAX_ADDRESSES ? client : OTHERS;
  }

  // One line for each minute that had some, written when the next one has.
  #begin(): void {
    const current = Math.floor(Date.now() / WINDOW_MS);
    if (current === this.#window) return;
    if (this.#total > 0) {
      const [most = '', count = 0] = [...this.#counts].reduce(
        (one, other) => (other[1] > one[1] ? other : one),
        ['', 0],
      );
      this.#log.warn(
        { requests: this.#total, addresses: this.#counts.size, most: { address: most, requests: count } },
        'requests had missing or wrong credentials in one minute',
      );
    }
    this.#window = current;
    this.#counts = new Map();
    this.#total = 0;
  }
}

/** Runs a few at a time, the others in the order they came. */
class ShortQueue {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= LOOKUPS_AT_ONCE) {
      if (this.#waiting.length >= MAX_WAITING) throw tooMany(1);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#running += 1;
    }
    try {
      return await work();
    } finally {
      // The next one takes over the place.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}

function tooMany(seconds: number): ApiError {
  return new ApiError(
    429,
    'RATE_LIMITED',
    `Too many requests with wrong credentials came from this address; wait ${seconds} seconds`,
    undefined,
    { 'Retry-After': String(seconds) },
  );
}

// Requests with wrong credentials, counted for each client address (an IPv4 address, or the /64 of an IPv6 one) in this process.
// Beyond the limit they are answered 429. A valid key is let in from every address whatever others there do: behind one NAT or proxy
// a stranger must not lock out a tenant. What guesses may cost is bounded instead: keys that this process has not seen before are
// looked up two at a time for all addresses beyond their limit.
// Rules: AUTH-22.
import { clientOf } from '../../core/http/address-ranges.ts';
import type { Log } from '../../core/process/log.ts';
import { WindowCounts } from '../../core/fairness/window-counts.ts';
import { ApiError } from '../request/errors.ts';

const WINDOW_MS = 60_000;
/** More addresses than these share one count until the minute ends. */
const MAX_ADDRESSES = 10_000;
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

/** @param perMinute wrong credentials of one address that are answered 401 */
export function createSignIns(perMinute: number, log: Log): SignIns {
  const failures = new WindowCounts({
    windowMs: WINDOW_MS,
    mostNames: MAX_ADDRESSES,
    onPassed: (counts) => tell(log, counts),
  });
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
      if (known.has(keyHash) || failures.of(clientOf(address)) < perMinute) return remembered(keyHash, find);
      return queue.run(() => remembered(keyHash, find));
    },
    fail(address) {
      if (failures.add(clientOf(address)) <= perMinute) return null;
      return tooMany(Math.ceil((failures.endsAt - Date.now()) / 1000));
    },
  };
}

/** One line for each minute that had some, written when the next one has. */
function tell(log: Log, counts: ReadonlyMap<string, number>): void {
  const failed = [...counts].toSorted(([, one], [, other]) => other - one);
  const [address = '', requests = 0] = failed[0] ?? [];
  log.warn(
    {
      requests: failed.reduce((sum, [, count]) => sum + count, 0),
      addresses: failed.length,
      most: { address, requests },
    },
    'requests had missing or wrong credentials in one minute',
  );
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

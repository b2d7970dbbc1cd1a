// Circuits that this process is about to open: a route has failed as often as its circuit allows, and its last failures are being recorded.
// Attempts of the route that are ready to be sent meanwhile wait for that, so that none follows the one that was too many,
// however long the commit takes. Other workers learn of it by what they load (db/hot-path/load-attempts.ts).
import { LRUCache } from 'lru-cache';

/** Failures of a route in a row, as this process has seen them. */
interface Streak {
  failures: number;
  /** Results of the streak that are not recorded yet; at most as many as there are attempts under way. */
  unrecorded: Set<Promise<unknown>>;
}

// Routes that fail at the same time and are remembered; beyond that attempts of the one used longest ago wait for nothing.
const MAX_ROUTES = 10_000;

export class PendingOpenings {
  readonly #streaks = new LRUCache<string, Streak>({ max: MAX_ROUTES });

  /** Notes that an attempt of a primary delivery succeeded. */
  succeeded(routeId: string): void {
    this.#streaks.delete(routeId);
  }

  /**
   * Notes that one failed.
   * @param recorded settles when PostgreSQL has it, or will not soon
   */
  failed(routeId: string, recorded: Promise<unknown>): void {
    const streak = this.#streaks.get(routeId) ?? { failures: 0, unrecorded: new Set() };
    this.#streaks.set(routeId, streak);
    streak.failures += 1;
    streak.unrecorded.add(recorded);
    const forget = () => streak.unrecorded.delete(recorded);
    recorded.then(forget, forget);
  }

  /**
   * Settles when it is recorded whether the circuit of a route opens; undefined when there is nothing to wait for.
   * @param failureThreshold failures in a row that open it
   */
  awaited(routeId: string, failureThreshold: number): Promise<unknown> | undefined {
    const streak = this.#streaks.get(routeId);
    if (!streak || streak.failures < failureThreshold || streak.unrecorded.size === 0) return undefined;
    return Promise.allSettled(streak.unrecorded);
  }

  /** The circuit of a route is not open after all: it was reset, or others had success. */
  forget(routeId: string): void {
    this.#streaks.delete(routeId);
  }
}

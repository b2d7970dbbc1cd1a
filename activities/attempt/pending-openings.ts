// Circuits that this process is about to open: a route has reached its failure threshold, and the last failures are being
// recorded. Attempts of the route that are ready to be sent wait for the recording, so that none is sent after the threshold,
// however long the commit takes: those that have waited for some time come back later. Other workers see the open circuit when they load deliveries (db/hot-path/load-attempts.ts).
import { LRUCache } from 'lru-cache';

/** Consecutive failures of a route seen by this process. */
interface Streak {
  failures: number;
  /** Unrecorded results of the streak; at most as many as attempts in flight. */
  unrecorded: Set<Promise<unknown>>;
}

// Maximum number of failing routes to remember; attempts of the least recently used one no longer wait.
const MAX_ROUTES = 10_000;

export class PendingOpenings {
  readonly #streaks = new LRUCache<string, Streak>({ max: MAX_ROUTES });

  /** Call it when an attempt of a primary delivery has succeeded. */
  succeeded(routeId: string): void {
    this.#streaks.delete(routeId);
  }

  /**
   * Call it when one has failed.
   * @param recorded settles when PostgreSQL has stored it, or refuses it for what it holds
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
   * Settles when the failures that may open the circuit of a route are recorded; undefined when there is nothing to wait for.
   * @param failureThreshold consecutive failures that open it
   */
  awaited(routeId: string, failureThreshold: number): Promise<unknown> | undefined {
    const streak = this.#streaks.get(routeId);
    if (!streak || streak.failures < failureThreshold || streak.unrecorded.size === 0) return undefined;
    return Promise.allSettled(streak.unrecorded);
  }

  /** The circuit of a route did not open: it was reset, or other attempts succeeded. */
  forget(routeId: string): void {
    this.#streaks.delete(routeId);
  }
}

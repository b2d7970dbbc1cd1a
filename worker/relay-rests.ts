// How long a relay rests between its rounds.
import { AdaptiveRest, type Rest } from '../core/poll-loop.ts';

// Rests double from the first to the second while there is nothing to start, ms. Nudges never cut them below the first: with
// every destination full, the relay would keep making empty claims.
const MIN_REST_MS = 5;
const MAX_REST_MS = 100;
// Rest of a quiet relay that has started all there was, ms. The next delivery comes with a notification, and a claim before it finds
// nothing: at 100 deliveries a second there would be as many of these as of others. A notification that is lost costs this rest.
const AWAITING_NEWS_MS = 25;
// How soon a nudge brings the next round of a busy relay, which claims in groups, ms. It rests for longer only while those that keep it
// busy have no place left; deliveries of others come with nudges, and do not wait for them.
const BUSY_NUDGED_MS = 25;
// Notifications arrive, when one did in this time. Where a pooler does not pass them on, they never do.
const NEWS_ARRIVE_MS = 1000;
// Rest after an error of the database or of Temporal.
const ERROR_REST_MS = 1000;

/** What a round has found. `nothing yet`: rounds have not examined everything since something changed. */
export type Found = 'work' | 'nothing yet' | 'nothing';

export class RelayRests {
  readonly #rests = new AdaptiveRest(MIN_REST_MS, MAX_REST_MS);
  #nudgedAt = Number.NEGATIVE_INFINITY;

  /** A notification came: there may be new deliveries. */
  nudged(): void {
    this.#nudgedAt = performance.now();
  }

  /**
   * @param isBusy whether deliveries are started in groups
   * @param quietMs for how long there is nothing to start but with news: all there was is started, or waits for a known time
   */
  after(found: Found, isBusy: boolean, quietMs: () => number): Rest {
    // Rests stay as long as they are until something is started: with many destinations that are full there is always more to examine.
    if (found === 'nothing yet') return { ms: MIN_REST_MS, nudgedMs: MIN_REST_MS };
    const hasWork = found === 'work';
    const newsArrive = performance.now() - this.#nudgedAt < NEWS_ARRIVE_MS;
    const awaitingMs = hasWork && newsArrive ? Math.min(AWAITING_NEWS_MS, quietMs()) : 0;
    if (awaitingMs > MIN_REST_MS) return { ms: awaitingMs, nudgedMs: MIN_REST_MS };
    const rest = this.#rests.after(hasWork);
    return isBusy ? { ...rest, nudgedMs: BUSY_NUDGED_MS } : rest;
  }

  afterError(): Rest {
    return this.#rests.afterError(ERROR_REST_MS);
  }
}

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
// Notifications arrive, when one did in this time.
const NEWS_ARRIVE_MS = 1000;
// Rest of a relay that hears notifications when there is nothing left, ms. With many workers, claims that find nothing are most of what
// an idle one costs. It is also how long a delivery waits that nobody tells of, because its API process was killed right after the commit.
const HEARING_MS = 500;
// For so long, ms, news are not relied on after work that nobody told of: a connection may be dead without either side knowing it.
const DISTRUST_MS = 60_000;
// The relay may find a delivery in the moment between its commit and its notification.
const LATE_NEWS_MS = 100;
// Rest after an error of the database or of Temporal.
const ERROR_REST_MS = 1000;

/** What a round has found. `nothing yet`: rounds have not examined everything since something changed. */
export type Found = 'work' | 'nothing yet' | 'nothing';

interface RelayRestsOptions {
  /** Whether notifications reach this process, as far as it knows. */
  hears?: () => boolean;
  /** A monotonic clock in ms. */
  now?: () => number;
}

export class RelayRests {
  readonly #rests = new AdaptiveRest(MIN_REST_MS, MAX_REST_MS);
  readonly #hears: () => boolean;
  readonly #now: () => number;
  #nudgedAt = Number.NEGATIVE_INFINITY;
  #wokenAt = Number.NEGATIVE_INFINITY;
  /** When it began to rest until the next news; null: it does not. */
  #hearingSince: number | null = null;
  /** When it found work that nobody had told of. */
  #untoldAt = Number.NEGATIVE_INFINITY;

  constructor({ hears = () => false, now = () => performance.now() }: RelayRestsOptions = {}) {
    this.#hears = hears;
    this.#now = now;
  }

  /** A notification came: there may be new deliveries. */
  nudged(): void {
    this.#nudgedAt = this.#now();
    this.woken();
  }

  /** There may be something to start for another reason, of this process: a destination has room again, for example. */
  woken(): void {
    this.#wokenAt = this.#now();
    if (this.#wokenAt - this.#untoldAt < LATE_NEWS_MS) this.#untoldAt = Number.NEGATIVE_INFINITY;
  }

  /**
   * @param isBusy whether deliveries are started in groups
   * @param quietMs for how long there is nothing to start but with news: all there was is started, or waits for a known time
   */
  after(found: Found, isBusy: boolean, quietMs: () => number): Rest {
    // Rests stay as long as they are until something is started: with many destinations that are full there is always more to examine.
    if (found === 'nothing yet') return { ms: MIN_REST_MS, nudgedMs: MIN_REST_MS };
    const hasWork = found === 'work';
    const awaitingMs = this.#waitMs(hasWork, quietMs());
    if (awaitingMs > MIN_REST_MS) return { ms: awaitingMs, nudgedMs: MIN_REST_MS };
    const rest = this.#rests.after(hasWork);
    return isBusy ? { ...rest, nudgedMs: BUSY_NUDGED_MS } : rest;
  }

  /** How long it waits for news, ms. Right after work there may be more of it, which needs no news. */
  #waitMs(hasWork: boolean, quietMs: number): number {
    const now = this.#now();
    if (hasWork && this.#hearingSince !== null && this.#wokenAt < this.#hearingSince) this.#untoldAt = now;
    const mayHear = !hasWork && this.#hears() && now - this.#untoldAt >= DISTRUST_MS;
    // After a shorter rest there is something to start without news.
    this.#hearingSince = mayHear && quietMs >= HEARING_MS ? now : null;
    if (mayHear) return Math.min(HEARING_MS, quietMs);
    return hasWork && now - this.#nudgedAt < NEWS_ARRIVE_MS ? Math.min(AWAITING_NEWS_MS, quietMs) : 0;
  }

  afterError(): Rest {
    return this.#rests.afterError(ERROR_REST_MS);
  }
}

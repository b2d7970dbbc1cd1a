// What organizations do with the management API of this process: their requests in this minute, and what runs for them.
// Rules: LIMIT-09 to LIMIT-12.
import type { LimitName, Limits } from '../core/limits.ts';
import { limitExceeded } from './limits.ts';

const MINUTE_MS = 60_000;
// Imports and searches take seconds.
const RETRY_AFTER_SECONDS = 1;

/** How often something came in the current minute. */
export interface MinuteCount {
  count: number;
  /** ms since 1970 */
  endsAt: number;
}

/** Counts by fixed windows of one minute. */
export class MinuteCounts {
  #minute = -1;
  readonly #counts = new Map<string, number>();

  /** Counts one more. */
  add(id: string): MinuteCount {
    const endsAt = this.#turn();
    const count = this.of(id) + 1;
    this.#counts.set(id, count);
    return { count, endsAt };
  }

  of(id: string): number {
    this.#turn();
    return this.#counts.get(id) ?? 0;
  }

  #turn(): number {
    const minute = Math.floor(Date.now() / MINUTE_MS);
    if (minute !== this.#minute) this.#counts.clear();
    this.#minute = minute;
    return (minute + 1) * MINUTE_MS;
  }
}

/** What an organization may have running. */
export type RunningLimit = Extract<LimitName, 'runningImports' | 'runningSearches' | 'runningStreams'>;

const NAMES: Record<RunningLimit, string> = {
  runningImports: 'imports',
  runningSearches: 'searches of payloads',
  runningStreams: 'streams of events',
};

export class OrganizationRequests {
  readonly #requests = new MinuteCounts();
  readonly #running = new Map<string, number>();

  /** Requests of an organization in this minute. */
  inThisMinute(organizationId: string): number {
    return this.#requests.of(organizationId);
  }

  /** How many run for an organization now. */
  running(organizationId: string, limit: RunningLimit): number {
    return this.#running.get(`${limit} ${organizationId}`) ?? 0;
  }

  /** Counts a request. @throws ApiError 429 */
  count({ id, limits }: { id: string; limits: Limits }): void {
    const { count, endsAt } = this.#requests.add(id);
    const most = limits.requestsPerMinute;
    if (count <= most) return;
    const what = `This organization may send ${most} requests a minute; wait until the next minute`;
    throw limitExceeded('requestsPerMinute', what, (endsAt - Date.now()) / 1000);
  }

  /** Runs something of which an organization may have so many at a time. @throws ApiError 429, and what `work` throws */
  async run<T>(
    { id, limits }: { id: string; limits: Limits },
    limit: RunningLimit,
    work: () => Promise<T>,
  ): Promise<T> {
    const key = `${limit} ${id}`;
    const running = this.running(id, limit);
    if (running >= limits[limit]) {
      const what = `This organization may have ${limits[limit]} ${NAMES[limit]} running at a time; wait until one has ended`;
      throw limitExceeded(limit, what, RETRY_AFTER_SECONDS);
    }
    this.#running.set(key, running + 1);
    try {
      return await work();
    } finally {
      const left = this.running(id, limit) - 1;
      if (left === 0) this.#running.delete(key);
      else this.#running.set(key, left);
    }
  }
}

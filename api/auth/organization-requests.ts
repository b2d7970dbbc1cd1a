// What organizations do with the management API of this process: their requests in this minute, and what runs for them.
import type { LimitName, Limits } from '../../core/fairness/organization-limits.ts';
import { WindowCounts } from '../../core/fairness/window-counts.ts';
import { plural } from '../../core/text/plural.ts';
import { limitExceeded } from '../request/errors.ts';

const MINUTE_MS = 60_000;
// Imports, searches and tests take seconds.
const RETRY_AFTER_SECONDS = 1;

type RunningLimit = Extract<LimitName, 'runningImports' | 'runningSearches' | 'runningTests' | 'runningStreams'>;

const NAMES: Record<RunningLimit, string> = {
  runningImports: 'import',
  runningSearches: 'search',
  runningTests: 'destination and alert channel test',
  runningStreams: 'event stream',
};

export class OrganizationRequests {
  readonly #requests = new WindowCounts({ windowMs: MINUTE_MS });
  readonly #running = new Map<string, number>();

  inThisMinute(organizationId: string): number {
    return this.#requests.of(organizationId);
  }

  running(organizationId: string, limit: RunningLimit): number {
    return this.#running.get(`${limit} ${organizationId}`) ?? 0;
  }

  /** Counts a request. @throws ApiError 429 */
  count({ id, limits }: { id: string; limits: Limits }): void {
    const most = limits.requestsPerMinute;
    if (this.#requests.add(id) <= most) return;
    const what = `This organization is limited to ${plural(most, 'request')} per minute; wait until the next minute`;
    throw limitExceeded('requestsPerMinute', what, (this.#requests.endsAt - Date.now()) / 1000);
  }

  /** Runs work whose concurrency the organization's limit bounds. @throws ApiError 429, and what `work` throws */
  async run<T>(
    { id, limits }: { id: string; limits: Limits },
    limit: RunningLimit,
    work: () => Promise<T>,
  ): Promise<T> {
    const key = `${limit} ${id}`;
    const running = this.running(id, limit);
    if (running >= limits[limit]) {
      const what = `This organization is limited to ${plural(limits[limit], `concurrent ${NAMES[limit]}`)}; wait until one finishes`;
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

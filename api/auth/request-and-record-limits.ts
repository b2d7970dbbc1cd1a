import type { LimitName, Limits } from '../../core/fairness/organization-limits.ts';
import { WindowCounts } from '../../core/fairness/rate-limits.ts';
import { plural } from '../../core/text/words.ts';
import type { EntityManager } from '../../db/records/orm.ts';
import { countBeforeAdding, type LimitedRecords } from '../../db/records/record-counts.ts';
import { type ApiState, callerOf, type Context, type Next } from '../request/context.ts';
import { limitExceeded, rateLimited, UNTIL_CHANGED_SECONDS } from '../request/errors.ts';

// What organizations do with the management API of this process: their requests in this minute, and what runs for them.

const MINUTE_MS = 60_000;
// Imports, searches and tests take seconds.
const RETRY_AFTER_SECONDS = 1;

type RunningLimit = Extract<LimitName, 'runningImports' | 'runningSearches' | 'runningTests' | 'runningStreams'>;

const RUNNING_NAMES: Record<RunningLimit, string> = {
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
      const what = `This organization is limited to ${plural(limits[limit], `concurrent ${RUNNING_NAMES[limit]}`)}; wait until one finishes`;
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

const NAMES: Record<LimitedRecords, string> = {
  sources: 'source',
  destinations: 'destination',
  filters: 'filter',
  transforms: 'transform',
  schemas: 'schema',
  alertChannels: 'alert channel',
  apiKeys: 'API key',
};

/**
 * Must run in the transaction that adds the records, before it does.
 * @throws ApiError 429 when there would be more than it may have
 */
export async function requireRecordRoom(
  em: EntityManager,
  ctx: { state: ApiState },
  records: LimitedRecords,
  added = 1,
): Promise<void> {
  const { id, limits } = callerOf(ctx).organization;
  const most = limits[records];
  if (added === 0 || !Number.isFinite(most)) return;
  if ((await countBeforeAdding(em, id, records, most)) + added <= most) return;
  const what = `This organization is limited to ${plural(most, NAMES[records])}, and ${added} more would exceed the limit; ${records === 'apiKeys' ? 'revoke' : 'delete'} some first`;
  throw limitExceeded(records, what, UNTIL_CHANGED_SECONDS);
}

/** @param routes how many a source would have @throws ApiError 429 when they are more than a source may have */
export function requireRouteRoom(ctx: { state: ApiState }, routes: number): void {
  const most = callerOf(ctx).organization.limits.routesPerSource;
  if (routes <= most) return;
  const what = `A source is limited to ${plural(most, 'route')}, and this request would give one source ${routes}; delete some of its routes first`;
  throw limitExceeded('routesPerSource', what, UNTIL_CHANGED_SECONDS);
}

// How many management requests an organization may send (its limit requestsPerMinute), and each of its API keys
// (HOOKYARD_API_RATE_LIMIT_PER_MINUTE): fixed windows of one minute, counted in this process. N processes allow N times
// as many.

/** Middleware: counts the requests of organizations and answers 429 beyond the limit. */
export function organizationRateLimit(requests: OrganizationRequests): (ctx: Context, next: Next) => Promise<void> {
  return (ctx, next) => {
    requests.count(callerOf(ctx).organization);
    return next();
  };
}

/**
 * Middleware: counts the requests of API keys and answers 429 beyond the limit; headers report the remaining requests
 * and the end of the window (`X-RateLimit-Reset` in seconds since 1970).
 */
export function keyRateLimit(perMinute: number): (ctx: Context, next: Next) => Promise<void> {
  const counts = new WindowCounts({ windowMs: 60_000 });
  return async (ctx, next) => {
    const count = counts.add(callerOf(ctx).key.id);
    const { endsAt } = counts;
    ctx.set({
      'X-RateLimit-Limit': String(perMinute),
      'X-RateLimit-Remaining': String(Math.max(0, perMinute - count)),
      'X-RateLimit-Reset': String(endsAt / 1000),
    });
    if (count > perMinute) {
      const seconds = Math.ceil((endsAt - Date.now()) / 1000);
      const what = `This API key is limited to ${plural(perMinute, 'request')} per minute`;
      throw rateLimited(`${what}; wait ${plural(seconds, 'second')}`, seconds);
    }
    await next();
  };
}

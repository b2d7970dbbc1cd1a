// How many management requests an organization may send (its limit requestsPerMinute), and each of its API keys
// (HOOKYARD_API_RATE_LIMIT_PER_MINUTE): fixed windows of one minute, counted in this process. N processes allow N times as many.
// Rules: HTTP-28, LIMIT-09.
import { WindowCounts } from '../../core/fairness/window-counts.ts';
import { type Context, callerOf, type Next } from '../request/context.ts';
import { ApiError } from '../request/errors.ts';
import type { OrganizationRequests } from './organization-requests.ts';

/** Middleware: counts the requests of organizations and answers 429 beyond the limit. */
export function organizationRateLimit(requests: OrganizationRequests): (ctx: Context, next: Next) => Promise<void> {
  return (ctx, next) => {
    requests.count(callerOf(ctx).organization);
    return next();
  };
}

/**
 * Middleware: counts the requests of API keys and answers 429 beyond the limit; headers report the remaining requests and the end
 * of the window (`X-RateLimit-Reset` in seconds since 1970).
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
      throw new ApiError(
        429,
        'RATE_LIMITED',
        `This API key may send ${perMinute} requests a minute; wait ${seconds} seconds`,
        undefined,
        { 'Retry-After': String(seconds) },
      );
    }
    await next();
  };
}

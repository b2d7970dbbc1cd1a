// The optional limit of management requests per API key (HOOKYARD_API_RATE_LIMIT_PER_MINUTE): a fixed window of one minute,
// counted in this process. Each API process counts for itself, so N processes allow N times the limit.
// Rules: HTTP-28.
import { callerOf, type Context, type Next } from './context.ts';
import { ApiError } from './errors.ts';

const WINDOW_MS = 60_000;

/**
 * Middleware: counts requests and answers 429 beyond the limit; headers report the remaining requests and the end of the window
 * (`X-RateLimit-Reset` in seconds since 1970).
 */
export function rateLimit(perMinute: number): (ctx: Context, next: Next) => Promise<void> {
  let window = -1;
  let counts = new Map<string, number>();
  return async (ctx, next) => {
    const now = Date.now();
    const current = Math.floor(now / WINDOW_MS);
    if (current !== window) {
      window = current;
      counts = new Map();
    }
    const keyId = callerOf(ctx).key.id;
    const used = (counts.get(keyId) ?? 0) + 1;
    counts.set(keyId, used);
    const endsAt = (current + 1) * WINDOW_MS;
    ctx.set({
      'X-RateLimit-Limit': String(perMinute),
      'X-RateLimit-Remaining': String(Math.max(0, perMinute - used)),
      'X-RateLimit-Reset': String(endsAt / 1000),
    });
    if (used > perMinute) {
      const seconds = Math.ceil((endsAt - now) / 1000);
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

// Cross-origin requests of browsers to the management API (Fetch standard, "CORS protocol"), off unless origins are set.
// Rules: HTTP-27.
import type { AppContext, Next } from './context.ts';
import { IGNORED_HEADER } from './ignored.ts';

const METHODS = 'GET, HEAD, POST, PATCH, DELETE';
const REQUEST_HEADERS = 'Authorization, Content-Type, Idempotency-Key, X-Request-Id';
// What a page may read besides the headers that are always readable.
const EXPOSED_HEADERS = [
  'Allow',
  'Content-Disposition',
  'Idempotent-Replayed',
  'Retry-After',
  'WWW-Authenticate',
  IGNORED_HEADER,
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
].join(', ');
/** How long a browser may remember a preflight, in seconds. */
const PREFLIGHT_SECONDS = '600';

/**
 * Middleware: lets pages of these origins use the API. The credentials are API keys in a header, which a page has to know;
 * cookies play no part, so `Access-Control-Allow-Credentials` is never sent. Ingest is no business of browsers.
 * @param origins exactly as browsers send them; none turns it off
 */
export function cors(origins: string[]): (ctx: AppContext, next: Next) => Promise<void> {
  return async (ctx, next) => {
    if (origins.length === 0 || ctx.path.startsWith('/ingest/')) return next();
    // Also when the request has no origin, or another one: a cache must not hand its answer to a page.
    ctx.vary('Origin');
    const origin = ctx.get('Origin');
    if (!origins.includes(origin)) return next();
    ctx.set({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED_HEADERS });
    const isPreflight = ctx.method === 'OPTIONS' && ctx.get('Access-Control-Request-Method') !== '';
    if (!isPreflight) return next();
    // The same for every path: whether a path or method exists is for the request itself to hear.
    ctx.set({
      'Access-Control-Allow-Methods': METHODS,
      'Access-Control-Allow-Headers': REQUEST_HEADERS,
      'Access-Control-Max-Age': PREFLIGHT_SECONDS,
    });
    ctx.status = 204;
  };
}

// Cross-origin requests of browsers to the management API (Fetch standard, "CORS protocol"), off unless origins are
// set.
import koaCors from '@koa/cors';
import type { AppContext, Next } from '../request/context.ts';
import { IGNORED_HEADER } from '../request/ignored.ts';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const REQUEST_HEADERS =
  'Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, X-API-Key, X-Request-Id';
const EXPOSED_HEADERS = [
  'Allow',
  'Content-Disposition',
  'ETag',
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
const PREFLIGHT_SECONDS = 600;

/**
 * Middleware: lets pages of these origins use the API. The credentials are API keys in a header, which a page has to
 * know; cookies are not used, so `Access-Control-Allow-Credentials` is never sent. Ingest has no CORS: browsers do not
 * call it.
 * @param origins exactly as browsers send them; an empty list turns CORS off
 */
export function cors(origins: string[]): (ctx: AppContext, next: Next) => Promise<void> {
  const protocol = koaCors({
    // Other origins get only `Vary`: a cache must not serve their answer to an allowed page.
    origin: (ctx) => origins.find((origin) => origin === ctx.get('Origin')) ?? '',
    allowMethods: METHODS,
    allowHeaders: REQUEST_HEADERS,
    exposeHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_SECONDS,
    // `renderErrors` runs inside, so nothing is thrown here.
    keepHeadersOnError: false,
  });
  return (ctx, next) => (origins.length === 0 || ctx.path.startsWith('/ingest/') ? next() : protocol(ctx, next));
}

import koaCors from '@koa/cors';
import { quotaRefusals } from '../../core/metrics/ingest.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { type Log, throttled } from '../../core/process/log.ts';
import { isTransientDatabaseError } from '../../db/connections/database-errors.ts';
import { MOST_COUNTED, PageTooDeepError } from '../../db/sql/list-parts.ts';
import { type AppContext, type Next, logOf } from '../request/context.ts';
import { ApiError, DATABASE_AWAY, errorBody, invalid, unavailable } from '../request/errors.ts';
import { IGNORED_HEADER } from '../request/ignored.ts';

/** Middleware: renders errors that handlers throw; unknown errors are logged and answered without internals. */
export function renderErrors(log: Log): (ctx: AppContext, next: Next) => Promise<void> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const answer = toApiError(error, ctx, log);
      if (answer.limit !== undefined) quotaRefusals.add({ limit: answer.limit });
      if (answer.code !== undefined) ctx.state.errorCode = answer.code;
      ctx.status = answer.status;
      ctx.set({ ...(RETRIED.includes(answer.status) && { 'Retry-After': '1' }), ...answer.headers });
      ctx.body = answer.isEmpty ? '' : errorBody(answer);
      if (answer.isEmpty) ctx.remove('Content-Type');
    }
  };
}

// Statuses whose answers carry `Retry-After` (RFC 9110, section 10.2.3), in seconds.
const RETRIED = [429, 503];

function toApiError(error: unknown, ctx: AppContext, log: Log): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof PageTooDeepError)
    return invalid(
      'page',
      `must not start after the first ${MOST_COUNTED} items; use cursor instead, starting with cursor=first`,
    );
  if (isTransientDatabaseError(error)) {
    // A flood of requests would be one of lines.
    throttled(log).warn(
      { requestId: ctx.state.requestId, cause: causeOf(error) },
      'returning 503: PostgreSQL cannot be reached or is overloaded',
    );
    return unavailable(DATABASE_AWAY);
  }
  logOf(ctx).error({ cause: causeOf(error) }, 'request failed');
  return new ApiError(
    500,
    'INTERNAL_ERROR',
    `Something went wrong; the log has the details under request ID ${ctx.state.requestId}`,
  );
}

// Cross-origin requests of browsers to the management API (Fetch standard, "CORS protocol"), off unless origins are
// set.

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

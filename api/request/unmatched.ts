// Answers what no handler does: OPTIONS, methods that a path does not have, unknown paths.
// Rules: HTTP-05 to HTTP-07.
import type { ApiRouter, AppContext, Next } from './context.ts';
import { ApiError } from './errors.ts';

/**
 * Middleware, the last one: OPTIONS lists the methods of a path (RFC 9110, section 9.3.7), without credentials because they are
 * public documentation; 405 for another method of such a path, else 404.
 */
export function answerUnmatched(routers: ApiRouter[]): (ctx: AppContext) => void {
  return (ctx) => {
    const layers = routers.flatMap((router) => router.match(ctx.path, ctx.method).path);
    const methods = layers.flatMap((layer) => layer.methods);
    if (methods.length === 0) {
      throw new ApiError(404, 'RESOURCE_NOT_FOUND', `No such endpoint: ${ctx.path}; /docs lists all endpoints`);
    }
    answerMethods(ctx, methods);
  };
}

/**
 * Middleware before a router: a fixed word in the place of an id ("bulk", "export") has only its own methods. The router alone
 * would treat the word as an id for the other methods (OpenAPI 3.1, "Path Templating Matching").
 */
export function keepFixedWords(router: ApiRouter): (ctx: AppContext, next: Next) => Promise<void> {
  const routes = router.stack.filter(({ methods }) => methods.length > 0);
  const fixed = routes
    .filter(({ path }) => !String(path).split('/').at(-1)?.startsWith(':'))
    .map(({ path, regexp }) => ({
      regexp,
      methods: routes.filter((other) => other.path === path).flatMap((other) => other.methods),
      others: routes.filter((other) => other.path !== path && other.regexp.test(String(path).replace(/:\w+/g, 'x'))),
    }))
    .filter(({ others }) => others.length > 0);
  return async (ctx, next) => {
    const word = fixed.find(({ regexp }) => regexp.test(ctx.path));
    if (!word || word.methods.includes(ctx.method)) return next();
    answerMethods(ctx, word.methods);
  };
}

function answerMethods(ctx: AppContext, methods: string[]): void {
  const allow = [...new Set([...methods, 'OPTIONS'])].toSorted().join(', ');
  if (ctx.method !== 'OPTIONS') {
    throw new ApiError(405, 'METHOD_NOT_ALLOWED', `${ctx.path} answers ${allow} only`, undefined, { Allow: allow });
  }
  ctx.status = 204;
  ctx.set('Allow', allow);
}

// What the key of a request may do. Which scope an operation needs is derived in one place (scopeOf, operation.ts).
import { allows, groupOf, type SingleScope } from '../../core/config/plans-and-scopes.ts';
import { type ApiState, type Context, callerOf, type Next } from '../request/context.ts';
import { beginAudit } from './audit-trail.ts';
import { type ApiError, forbidden, suspended } from '../request/errors.ts';
import { type Around, type Described, scopeOf } from '../request/operation.ts';

/** Middleware of an operation: 403 without its scope, and for changes of a suspended organization. */
export function permit(operation: Described): Around {
  const scope = scopeOf(operation);
  return async (ctx: Context, next: Next) => {
    if (scope !== null) requireScope(ctx, scope, `${ctx.method} ${operation.path}`);
    if (operation.method !== 'get' && callerOf(ctx).organization.suspended)
      throw suspended('only GET requests are allowed');
    await next();
  };
}

/**
 * Reads of payloads and secrets are recorded from then on.
 * @param what needs it, for the message: `includePayload=true`
 * @throws ApiError 403
 */
export function requireScope(ctx: { state: ApiState }, scope: SingleScope, what: string): void {
  if (!allows(callerOf(ctx).key.scopes, scope))
    throw forbidden(`This API key lacks the scope "${scope}" (or "${groupOf(scope)}") required for ${what}`);
  if (scope === 'payloads:read' || scope === 'secrets:read') beginAudit(ctx);
}

/** Whether the key of a request may see secrets in clear, and so also lead them to another host. */
export function maySeeSecrets(ctx: { state: ApiState }): boolean {
  return allows(callerOf(ctx).key.scopes, 'secrets:read');
}

/**
 * 403: a stored secret would go to a host that its owner has not given it to.
 * @param address, secret members of the request
 */
export function secretOfAnotherHost(address: string, secret: string): ApiError {
  return forbidden(
    `${address} points to a different server (scheme, host or port), which must not receive the stored secret; send ${secret} again, or use an API key with the scope "secrets:read" (or "write")`,
  );
}

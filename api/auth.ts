// API keys: who a request comes from and what it may do.
// Rules: HTTP-04, AUTH-01 to AUTH-05, ORG-03, ERR-18, ERR-20.
import { timingSafeEqual } from 'node:crypto';
import type { Scope } from '../core/access.ts';
import { limitsOf } from '../core/limits.ts';
import { findKey, noteUse } from '../db/management/api-keys.ts';
import type { Pool } from '../db/pool.ts';
import { hashToken } from '../db/prepare.ts';
import { type Caller, type Context, callerOf, type Next, param } from './context.ts';
import { ApiError, notFound, suspended } from './errors.ts';

/**
 * Middleware: 401 without a valid key, 403 when the key lacks the scope that the method needs, or its organization is suspended and
 * would change something.
 */
export function authenticate(pool: Pool): (ctx: Context, next: Next) => Promise<void> {
  return async (ctx, next) => {
    const caller = await findCaller(pool, ctx.get('authorization'));
    ctx.state.caller = caller;
    const scope: Scope = ctx.method === 'GET' || ctx.method === 'HEAD' ? 'read' : 'write';
    if (!caller.key.scopes.includes(scope)) {
      throw new ApiError(403, 'FORBIDDEN', `This API key lacks the scope "${scope}" that ${ctx.method} needs`);
    }
    if (caller.organization.suspended && scope === 'write') throw suspended('it may read, and change nothing');
    await next();
  };
}

async function findCaller(pool: Pool, authorization: string): Promise<Caller> {
  const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (token === undefined) throw unauthorized();
  const hash = hashToken(token);
  const key = await findKey(pool, hash);
  if (!key || !timingSafeEqual(key.tokenHash, hash)) throw unauthorized();
  // Failure policy: the request neither waits for this nor fails because of it; the next request records the use.
  if (key.useIsDue) noteUse(pool, key.organizationId, key.id).catch(() => undefined);
  return {
    organization: {
      id: key.organizationId,
      name: key.organizationName,
      slug: key.slug,
      plan: key.plan,
      suspended: key.suspended,
      limits: limitsOf(key.plan, key.limits),
    },
    key: { id: key.id, name: key.name, scopes: key.scopes },
  };
}

function unauthorized(): ApiError {
  const message = 'Missing or invalid credentials; send an API key as Authorization: Bearer whr_...';
  return new ApiError(401, 'UNAUTHORIZED', message, undefined, { 'WWW-Authenticate': 'Bearer' });
}

/** Middleware of the organization-scoped family: the id of another organization gets the same 404 as an unknown id. */
export async function requireOwnOrganization(ctx: Context, next: Next): Promise<void> {
  const id = param(ctx, 'orgId');
  if (id !== callerOf(ctx).organization.id) throw notFound('organization', id);
  await next();
}

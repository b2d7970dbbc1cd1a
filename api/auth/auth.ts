// API keys: who a request comes from.
// Rules: HTTP-04, AUTH-01 to AUTH-03, AUTH-05, AUTH-18, AUTH-22, ERR-18, ERR-20.
import { timingSafeEqual } from 'node:crypto';
import { isInRanges } from '../../core/http/allowed-addresses.ts';
import { limitsOf } from '../../core/fairness/limits.ts';
import { findKey, noteUse, type ValidKey } from '../../db/management/api-keys.ts';
import { actingFor } from '../../db/connections/pool-turns.ts';
import { hashToken } from '../../core/config/api-token.ts';
import { type ApiDeps, type Caller, type Context, callerOf, type Next, param } from '../request/context.ts';
import { recordRefusedUses } from './audit-trail.ts';
import { ApiError, notFound } from '../request/errors.ts';
import type { FirstOfMinute } from './first-of-minute.ts';
import { createSignIns } from './sign-ins.ts';

type Deps = Pick<ApiDeps, 'pool' | 'servicePool' | 'tuning' | 'log'>;

// Every token begins so (newToken); HOOKYARD_API_KEY may be shorter than a generated one.
const TOKEN = /^whr_[A-Za-z0-9_-]{16,}$/;

/** Middleware: 401 without a valid key, 403 from an address that the key may not be used from. */
export function authenticate(
  { pool, servicePool, tuning, log }: Deps,
  firsts: FirstOfMinute,
): (ctx: Context, next: Next) => Promise<void> {
  const signIns = createSignIns(tuning.failedSignInsPerMinute, log);
  const noteRefusedUse = recordRefusedUses(servicePool, firsts);

  // It may wait for the row, so it counts for the organization.
  const noteUseOf = ({ organizationId, id }: ValidKey) =>
    actingFor(organizationId, () => noteUse(pool, organizationId, id));

  async function find(token: string, address: string): Promise<ValidKey | null> {
    const hash = hashToken(token);
    const key = await signIns.lookUp(address, hash.toString('base64'), () => findKey(servicePool, hash));
    return key && timingSafeEqual(key.tokenHash, hash) ? key : null;
  }

  return async (ctx, next) => {
    const { address } = ctx.state.client;
    const token = tokenOf(ctx);
    // What cannot be a token is not looked up.
    const key = token !== undefined && TOKEN.test(token) ? await find(token, address) : null;
    if (!key) throw signIns.fail(address) ?? unauthorized();
    ctx.state.caller = callerWith(key);
    if (key.allowedAddresses !== null && !isInRanges(address, key.allowedAddresses)) {
      noteRefusedUse(ctx);
      throw refusedAddress(address);
    }
    // Failure policy: the request neither waits for this nor fails because of it; the next request records the use.
    if (key.useIsDue) noteUseOf(key).catch(() => undefined);
    await next();
  };
}

/** `Authorization` counts when it has a token; what a proxy has put there for itself is passed over. */
function tokenOf(ctx: Context): string | undefined {
  const key = ctx.get('x-api-key');
  return /^Bearer +(\S+) *$/i.exec(ctx.get('authorization'))?.[1] ?? (key === '' ? undefined : key);
}

function callerWith(key: ValidKey): Caller {
  const { id, name, scopes, allowedAddresses, expiresAt } = key;
  return {
    organization: {
      id: key.organizationId,
      name: key.organizationName,
      slug: key.slug,
      plan: key.plan,
      suspended: key.suspended,
      limits: limitsOf(key.plan, key.limits),
    },
    key: { id, name, scopes, allowedAddresses, expiresAt },
  };
}

/** Only who has the key gets this answer. */
function refusedAddress(address: string): ApiError {
  const message = `This API key may not be used from ${address}; its allowedAddresses say from where`;
  return new ApiError(403, 'FORBIDDEN', message);
}

function unauthorized(): ApiError {
  const message = 'Missing or invalid credentials; send an API key as Authorization: Bearer whr_..., or as X-API-Key';
  return new ApiError(401, 'UNAUTHORIZED', message, undefined, { 'WWW-Authenticate': 'Bearer' });
}

/** Middleware of the organization-scoped family: the id of another organization gets the same 404 as an unknown id. */
export async function requireOwnOrganization(ctx: Context, next: Next): Promise<void> {
  const id = param(ctx, 'orgId');
  if (id !== callerOf(ctx).organization.id) throw notFound('organization', id);
  await next();
}

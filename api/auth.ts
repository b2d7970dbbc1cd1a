// API keys: who a request comes from and what it may do (decisions, "Credentials, organizations, plans").
import { timingSafeEqual } from 'node:crypto';
import type { Scope } from '../core/access.ts';
import type { Pool } from '../db/pool.ts';
import { hashToken } from '../db/prepare.ts';
import { type Caller, type Context, callerOf, type Next, param } from './context.ts';
import { ApiError, notFound } from './errors.ts';

interface KeyRow {
  id: string;
  name: string;
  scopes: Scope[];
  token_hash: Buffer;
  organization_id: string;
  organization_name: string;
  slug: string;
  plan: Caller['organization']['plan'];
  /** Whether its last use is to be noted. */
  unnoted: boolean;
}

// Read for every request, without a cache: a revoked key ends at once, in every process.
const FIND_KEY = `
select k.id, k.name, k.scopes, k.token_hash, o.id as organization_id, o.name as organization_name, o.slug, o.plan,
       coalesce(k.last_used_at < now() - interval '1 minute', true) as unnoted
from api_keys k join organizations o on o.id = k.organization_id
where k.token_hash = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`;

// To the minute, so that a busy key costs one write a minute; of requests at the same moment one writes.
const NOTE_USE = `
update api_keys set last_used_at = now()
where id = $1 and coalesce(last_used_at < now() - interval '1 minute', true)`;

/** Middleware: 401 without a valid key, 403 when the key lacks the scope that the method needs. */
export function authenticate(pool: Pool): (ctx: Context, next: Next) => Promise<void> {
  return async (ctx, next) => {
    const caller = await findCaller(pool, ctx.get('authorization'));
    ctx.state.caller = caller;
    const scope: Scope = ctx.method === 'GET' || ctx.method === 'HEAD' ? 'read' : 'write';
    if (!caller.key.scopes.includes(scope)) {
      throw new ApiError(403, 'FORBIDDEN', `This API key lacks the scope "${scope}" that ${ctx.method} needs`);
    }
    await next();
  };
}

async function findCaller(pool: Pool, authorization: string): Promise<Caller> {
  const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (token === undefined) throw unauthorized();
  const hash = hashToken(token);
  const { rows } = await pool.query<KeyRow>({ name: 'find-key', text: FIND_KEY, values: [hash] });
  const row = rows[0];
  if (!row || !timingSafeEqual(row.token_hash, hash)) throw unauthorized();
  // Failure policy: the request does not wait for this, nor fail with it; the next one notes it.
  if (row.unnoted) pool.query(NOTE_USE, [row.id]).catch(() => undefined);
  return {
    organization: { id: row.organization_id, name: row.organization_name, slug: row.slug, plan: row.plan },
    key: { id: row.id, name: row.name, scopes: row.scopes },
  };
}

function unauthorized(): ApiError {
  const message = 'Missing or invalid credentials; send an API key as Authorization: Bearer whr_...';
  return new ApiError(401, 'UNAUTHORIZED', message, undefined, { 'WWW-Authenticate': 'Bearer' });
}

/** Middleware of the organization-scoped family: another organization's id is answered as one that does not exist. */
export async function requireOwnOrganization(ctx: Context, next: Next): Promise<void> {
  const id = param(ctx, 'orgId');
  if (id !== callerOf(ctx).organization.id) throw notFound('organization', id);
  await next();
}

// API keys of the caller's organization. A token is shown once, in the answer to its creation.
// Rules: AUTH-09 to AUTH-11.
import { z } from 'zod';
import { newId } from '../../core/ids.ts';
import { ApiKey, type Scope } from '../../db/entities.ts';
import { hashToken, newToken } from '../../db/prepare.ts';
import {
  type ApiDeps,
  type ApiRouter,
  callerOf,
  type Context,
  entityManager,
  organizationId,
  param,
} from '../context.ts';
import { ApiError, notFound } from '../errors.ts';
import { listAnswer, newestFirst, pageParams } from '../pagination.ts';
import { parseTime } from '../query.ts';
import { isoTime, requireId } from '../records.ts';
import { parseBody, parseQuery, refuse } from '../validation.ts';
import * as field from './fields.ts';

const SCOPES: [Scope, Scope] = ['read', 'write'];

const expiresAt = z
  .string()
  .transform((text, context) => {
    const time = parseTime(text);
    if (time && time.getTime() > Date.now()) return time;
    refuse(context, undefined, 'must be an ISO 8601 date and time in the future, for example 2030-01-01T00:00:00Z');
    return z.NEVER;
  })
  .meta({
    description: 'In the future; null never ends.',
    examples: ['2036-01-01T00:00:00Z'],
  });

export const createSchema = z.object({
  name: field.name,
  scopes: z.array(z.enum(SCOPES)).min(1).max(2).default(SCOPES),
  expiresAt: expiresAt.nullable().optional(),
});
export const listSchema = z.object({ ...pageParams });

export function mountApiKeys(router: ApiRouter, deps: ApiDeps): void {
  router.get('/api/api-keys', (ctx) => list(ctx, deps));
  router.post('/api/api-keys', (ctx) => create(ctx, deps));
  router.delete('/api/api-keys/:id', (ctx) => revoke(ctx, deps));
}

async function list(ctx: Context, deps: ApiDeps): Promise<void> {
  const query = parseQuery(ctx, listSchema);
  const [keys, total] = await entityManager(ctx, deps).findAndCount(ApiKey, { revokedAt: null }, newestFirst(query));
  ctx.body = listAnswer(keys.map(show), total, query);
}

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseBody(ctx, createSchema);
  const scopes = SCOPES.filter((scope) => body.scopes.includes(scope));
  const beyond = scopes.find((scope) => !callerOf(ctx).key.scopes.includes(scope));
  if (beyond) throw new ApiError(403, 'FORBIDDEN', `A key cannot give the scope "${beyond}", which it lacks itself`);
  const token = newToken();
  const em = entityManager(ctx, deps);
  const key = em.create(ApiKey, {
    id: newId('key'),
    organizationId: organizationId(ctx),
    name: body.name,
    tokenHash: hashToken(token),
    tokenHint: token.slice(-4),
    scopes,
    expiresAt: body.expiresAt ?? null,
    revokedAt: null,
    lastUsedAt: null,
  });
  await em.persist(key).flush();
  ctx.status = 201;
  ctx.body = { ...show(key), token };
}

async function revoke(ctx: Context, deps: ApiDeps): Promise<void> {
  const id = param(ctx, 'id');
  requireId('API key', 'key', id);
  const revoked = await entityManager(ctx, deps).nativeUpdate(
    ApiKey,
    { id, revokedAt: null },
    { revokedAt: new Date() },
  );
  if (revoked === 0) throw notFound('API key', id);
  ctx.status = 204;
}

function show(key: ApiKey) {
  return {
    id: key.id,
    name: key.name,
    scopes: key.scopes,
    tokenHint: key.tokenHint,
    expiresAt: isoTime(key.expiresAt),
    lastUsedAt: isoTime(key.lastUsedAt),
    createdAt: isoTime(key.createdAt),
  };
}

// API keys of the caller's organization. A token is shown once, in the answer to its creation.
// Rules: AUTH-09 to AUTH-11.
import { z } from 'zod';
import { SCOPES } from '../../core/access.ts';
import { newId } from '../../core/ids.ts';
import { ApiKey } from '../../db/entities.ts';
import { hashToken, newToken } from '../../db/prepare.ts';
import { type ApiDeps, type Context, callerOf, entityManager, organizationId, param } from '../context.ts';
import { ApiError, notFound } from '../errors.ts';
import { requireRecordRoom } from '../limits.ts';
import { apiKeyAnswer, apiKeyMembers, createApiKeySchema, newApiKeyAnswer } from '../members/api-keys.ts';
import { toAnswer } from '../members/table.ts';
import { listOf } from '../members/values.ts';
import type { Operation } from '../operation.ts';
import { listAnswer, newestFirst, pageParams } from '../pagination.ts';
import { requireId } from '../records.ts';
import { parseBody, parseQuery } from '../validation.ts';

const listSchema = z.object({ ...pageParams });

export const apiKeyOperations: Operation[] = [
  {
    tag: 'Access',
    method: 'get',
    path: '/api/api-keys',
    operationId: 'listApiKeys',
    run: list,
    summary: 'List API keys',
    query: listSchema,
    answer: {
      status: 200,
      description: 'One page of those that were not revoked, newest first.',
      schema: listOf(apiKeyAnswer),
    },
  },
  {
    tag: 'Access',
    method: 'post',
    path: '/api/api-keys',
    operationId: 'createApiKey',
    run: create,
    summary: 'Create an API key',
    body: {
      schema: createApiKeySchema,
      examples: { 'to look only': { name: 'Dashboard', scopes: ['read'], expiresAt: '2036-01-01T00:00:00Z' } },
    },
    answer: {
      status: 201,
      description: 'The key, with its token, which is shown this once.',
      schema: newApiKeyAnswer,
      leadsTo: ['revokeApiKey'],
    },
  },
  {
    tag: 'Access',
    idOf: ['key'],
    method: 'delete',
    path: '/api/api-keys/{id}',
    operationId: 'revokeApiKey',
    run: revoke,
    summary: 'Revoke an API key',
    description: 'Requests with it are refused from now on.',
    answer: { status: 204, description: 'It is revoked.' },
  },
];

async function list(ctx: Context, deps: ApiDeps): Promise<void> {
  const query = parseQuery(ctx, listSchema);
  const [keys, total] = await entityManager(ctx, deps).findAndCount(ApiKey, { revokedAt: null }, newestFirst(query));
  ctx.body = listAnswer(keys.map(show), total, query);
}

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseBody(ctx, createApiKeySchema);
  const scopes = SCOPES.filter((scope) => body.scopes.includes(scope));
  const beyond = scopes.find((scope) => !callerOf(ctx).key.scopes.includes(scope));
  if (beyond) throw new ApiError(403, 'FORBIDDEN', `A key cannot give the scope "${beyond}", which it lacks itself`);
  const token = newToken();
  const key = await entityManager(ctx, deps).transactional(async (em) => {
    await requireRecordRoom(em, ctx, 'apiKeys');
    return em.create(ApiKey, {
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
  });
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
  return toAnswer(apiKeyMembers, key, {});
}

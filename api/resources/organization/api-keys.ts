// API keys of the caller's organization. A token is shown once, in the answer to its creation.
// Rules: AUTH-09 to AUTH-11, AUTH-19 to AUTH-21.
import { LockMode } from '@mikro-orm/core';
import { z } from 'zod';
import { allows, lacking, SCOPES } from '../../../core/config/access.ts';
import { rangeBeyond } from '../../../core/http/allowed-addresses.ts';
import { newId } from '../../../core/text/ids.ts';
import { ApiKey } from '../../../db/entities.ts';
import { hashToken, newToken } from '../../../core/config/api-token.ts';
import {
  type ApiDeps,
  type Caller,
  type Context,
  callerOf,
  entityManager,
  organizationId,
  param,
} from '../../request/context.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { ApiError, notFound } from '../../request/errors.ts';
import { requireRecordRoom } from '../../auth/limits.ts';
import { apiKeyAnswer, apiKeyMembers, createApiKeySchema, newApiKeyAnswer } from './api-key-members.ts';
import { toAnswer } from '../table.ts';
import { listOf } from '../values.ts';
import type { Operation } from '../../request/operation.ts';
import { listAnswer, newestFirst, pageParams } from '../../request/pagination.ts';
import { isoTime, requireId } from '../records.ts';
import { parseBody, parseQuery } from '../../request/validation.ts';
import { transactional } from '../transactions.ts';

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
      examples: {
        'to look only': { name: 'Dashboard', scopes: ['read'], expiresAt: '2036-01-01T00:00:00Z' },
        'for one job, from one network': {
          name: 'Nightly check',
          scopes: ['events:read', 'deliveries:read'],
          allowedAddresses: ['203.0.113.0/24'],
        },
      },
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
    description:
      'Requests with it are refused from now on. One that may create keys is revoked only when another stays that may, for as long and from all of its addresses.',
    answer: { status: 204, description: 'It is revoked.' },
    errors: { 409: ['LAST_KEY'] },
  },
];

async function list(ctx: Context, deps: ApiDeps): Promise<void> {
  const query = parseQuery(ctx, listSchema);
  const [keys, total] = await entityManager(ctx, deps).findAndCount(ApiKey, { revokedAt: null }, newestFirst(query));
  ctx.body = listAnswer(keys.map(show), total, query);
}

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseBody(ctx, createApiKeySchema);
  const { key: own } = callerOf(ctx);
  const scopes = SCOPES.filter((scope) => body.scopes.includes(scope));
  const { expiresAt = own.expiresAt, allowedAddresses = own.allowedAddresses } = body;
  refuseStronger(own, { scopes, allowedAddresses, expiresAt }, 'give');
  const token = newToken();
  const id = newId('key');
  noteRecords(ctx, [id]);
  const key = await transactional(ctx, deps, async (em) => {
    await requireRecordRoom(em, ctx, 'apiKeys');
    return em.create(ApiKey, {
      id,
      organizationId: organizationId(ctx),
      name: body.name,
      tokenHash: hashToken(token),
      tokenHint: token.slice(-4),
      scopes,
      allowedAddresses,
      expiresAt,
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
  const { key: own } = callerOf(ctx);
  await transactional(ctx, deps, async (em) => {
    // All of them are locked, so that of two requests that revoke the last two keys one is refused.
    const keys = await em.find(
      ApiKey,
      { revokedAt: null },
      { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    const found = keys.find((key) => key.id === id);
    if (!found) throw notFound('API key', id);
    const { scopes, allowedAddresses = null, expiresAt = null } = found;
    refuseStronger(own, { scopes, allowedAddresses, expiresAt }, 'revoke a key with');
    if (mayManageKeys(found) && !keys.some((key) => key.id !== id && mayReplace(key, found))) throw lastKey();
    found.revokedAt = new Date();
  });
  ctx.status = 204;
}

type Strength = Pick<Caller['key'], 'scopes' | 'allowedAddresses' | 'expiresAt'>;

/** A key is never the way to a stronger one. @throws ApiError 403 */
function refuseStronger(own: Strength, other: Strength, what: string): void {
  const scope = lacking(own.scopes, other.scopes);
  if (scope) throw new ApiError(403, 'FORBIDDEN', `A key cannot ${what} the scope "${scope}", which it lacks itself`);
  if (endsLater(other.expiresAt, own.expiresAt)) {
    const message = `A key cannot ${what} a later expiresAt than its own, ${isoTime(own.expiresAt)}`;
    throw new ApiError(403, 'FORBIDDEN', message);
  }
  const range = addressBeyond(other.allowedAddresses, own.allowedAddresses);
  if (range) {
    throw new ApiError(
      403,
      'FORBIDDEN',
      `A key cannot ${what} use from ${range}, which is beyond its own allowedAddresses`,
    );
  }
}

/** Null is never. */
function endsLater(one: Date | null, other: Date | null): boolean {
  return other !== null && (one === null || one > other);
}

/** An address that is in the first and not in the second; null is every address. */
function addressBeyond(wanted: string[] | null, held: string[] | null): string | undefined {
  if (held === null) return undefined;
  return wanted === null ? 'every address' : rangeBeyond(wanted, held);
}

/** Whether keys can be managed with this one for as long, and from wherever, as with the other. */
function mayReplace(key: ApiKey, other: ApiKey): boolean {
  if (!mayManageKeys(key) || endsLater(other.expiresAt ?? null, key.expiresAt ?? null)) return false;
  return addressBeyond(other.allowedAddresses ?? null, key.allowedAddresses ?? null) === undefined;
}

function mayManageKeys({ scopes, expiresAt }: ApiKey): boolean {
  return allows(scopes, 'keys:write') && (!expiresAt || expiresAt.getTime() > Date.now());
}

function lastKey(): ApiError {
  return new ApiError(
    409,
    'LAST_KEY',
    'No other key may create keys for as long and from all of its addresses; create another one first, or nobody could any more',
  );
}

function show(key: ApiKey) {
  return toAnswer(apiKeyMembers, key, {});
}

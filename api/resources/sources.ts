// Sources: list, create, get, update, delete.
// Rules: SRC-01 to SRC-11, SRC-18 to SRC-27.
import type { RequiredEntityData } from '@mikro-orm/core';
import { z } from 'zod';
import { newId } from '../../core/ids.ts';
import { isRedacted } from '../../core/redaction.ts';
import {
  publicVerificationConfig,
  type VerificationConfig,
  verificationConfigSchema,
} from '../../core/signatures/index.ts';
import { deleteSource } from '../../db/delivery/delivery-commands.ts';
import { type IdempotencyKeyRule, Source } from '../../db/entities.ts';
import { type IngestTotals, ingestTotals } from '../../db/history/statistics.ts';
import { type ApiDeps, type Context, entityManager, organizationId, param } from '../context.ts';
import { ApiError, invalid, notFound } from '../errors.ts';
import { requireRecordRoom } from '../limits.ts';
import * as field from '../members/fields.ts';
import {
  createSourceBody,
  createSourceSchema,
  sourceAnswer,
  sourceDefaults,
  sourceMembers,
  updateSourceSchema,
} from '../members/sources.ts';
import { toAnswer } from '../members/table.ts';
import { listOf } from '../members/values.ts';
import type { Operation } from '../operation.ts';
import { listAnswer, newestFirst, pageParams } from '../pagination.ts';
import { booleanParam, containsPattern, textParam } from '../query.ts';
import { findSource, requireId, stillValid, violates } from '../records.ts';
import { check, parseBody, parseQuery } from '../validation.ts';
import { rotateTokenOperation, tokenColumns, webhookUrl } from './source-tokens.ts';

const listSchema = z.object({
  ...pageParams,
  enabled: booleanParam,
  search: textParam.meta({ description: 'A part of the name or slug, whatever its case.' }),
});

const base = '/api/organizations/{orgId}/sources';
const common = { tag: 'Sources', idOf: ['src'] } as const;

export const sourceOperations: Operation[] = [
  {
    ...common,
    method: 'get',
    path: base,
    operationId: 'listSources',
    run: list,
    summary: 'List sources',
    query: listSchema,
    answer: { status: 200, description: 'One page, newest first.', schema: listOf(sourceAnswer) },
  },
  {
    ...common,
    method: 'post',
    path: base,
    operationId: 'createSource',
    run: create,
    summary: 'Create a source',
    body: {
      schema: createSourceBody,
      examples: {
        plain: { name: 'Orders', slug: 'orders' },
        github: {
          name: 'GitHub',
          slug: 'github',
          verificationConfig: { type: 'github', secret: 'the secret that GitHub has, too' },
        },
        hmac: {
          name: 'Shop',
          slug: 'shop',
          description: 'Signed, and each webhook once',
          verificationConfig: {
            type: 'hmac',
            secret: 'shared with the shop',
            algorithm: 'sha256',
            header: 'X-Shop-Signature',
            encoding: 'base64',
          },
          idempotencyKey: { jsonPath: '$.order.id', windowSeconds: 3600 },
        },
      },
    },
    answer: {
      status: 201,
      description: 'The source; `verificationConfig` has only its type.',
      schema: sourceAnswer,
      leadsTo: ['getSource', 'updateSource', 'deleteSource'],
    },
    errors: { 400: ['INVALID_SLUG'], 409: ['DUPLICATE_SLUG'] },
  },
  {
    ...common,
    method: 'get',
    path: `${base}/{id}`,
    operationId: 'getSource',
    run: get,
    summary: 'Get a source',
    answer: { status: 200, description: 'The source.', schema: sourceAnswer },
  },
  {
    ...common,
    method: 'patch',
    path: `${base}/{id}`,
    operationId: 'updateSource',
    run: update,
    summary: 'Update a source',
    description: 'Members that are not sent stay as they are. The slug cannot be changed.',
    body: {
      schema: updateSourceSchema,
      examples: { pause: { enabled: false }, rename: { name: 'Orders of the shop' } },
    },
    answer: { status: 200, description: 'The source as it is now.', schema: sourceAnswer },
  },
  {
    ...common,
    method: 'delete',
    path: `${base}/{id}`,
    operationId: 'deleteSource',
    run: remove,
    summary: 'Delete a source',
    description: 'Also deletes its events and deliveries.',
    answer: { status: 204, description: 'It is deleted.' },
  },
  rotateTokenOperation(base, showSource),
];

async function list(ctx: Context, deps: ApiDeps): Promise<void> {
  const query = parseQuery(ctx, listSchema);
  const pattern = query.search && containsPattern(query.search);
  const [sources, total] = await entityManager(ctx, deps).findAndCount(
    Source,
    {
      ...(query.enabled !== undefined && { enabled: query.enabled }),
      ...(pattern && { $or: [{ name: { $ilike: pattern } }, { slug: { $ilike: pattern } }] }),
    },
    newestFirst(query),
  );
  const totals = await ingestTotals(
    deps.pool,
    sources.map((source) => source.id),
  );
  ctx.body = listAnswer(
    sources.map((source) => show(ctx, deps, source, totals.get(source.id))),
    total,
    query,
  );
}

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const { verificationConfig: config, ...body } = await parseBody(ctx, createSourceSchema);
  const id = newId('src');
  const verification = withStoredSecret(config ?? { type: 'none' }, null);
  requireSignature(body.idempotencyKey, verification);
  const sealed = { ...seal(deps, id, verification), ...tokenColumns(deps, id, body.ingestToken, null) };
  const record = { ...sourceDefaults, ...body, ...sealed, id, organizationId: organizationId(ctx) };
  const source = await storeSource(ctx, deps, record);
  ctx.status = 201;
  const shown = await showSource(ctx, deps, source);
  // Only the type (SRC-18).
  ctx.body = { ...shown, verificationConfig: { type: verification.type } };
}

async function storeSource(ctx: Context, deps: ApiDeps, record: RequiredEntityData<Source>): Promise<Source> {
  try {
    return await entityManager(ctx, deps).transactional(async (em) => {
      await requireRecordRoom(em, ctx, 'sources');
      return em.create(Source, record);
    });
  } catch (error) {
    if (!violates(error, 'sources_slug_unique')) throw error;
    throw new ApiError(409, 'DUPLICATE_SLUG', `A source with the slug ${record.slug} exists already; choose another`);
  }
}

async function get(ctx: Context, deps: ApiDeps): Promise<void> {
  ctx.body = await showSource(ctx, deps, await findSource(entityManager(ctx, deps), param(ctx, 'id')));
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  const id = param(ctx, 'id');
  const { verificationConfig: config, slug, ...body } = await parseBody(ctx, updateSourceSchema);
  const source = await entityManager(ctx, deps).transactional(async (em) => {
    const stored = await findSource(em, id, 'lock');
    if (slug !== undefined && slug !== stored.slug) throw invalid('slug', 'cannot be changed after creation');
    if (config !== undefined) {
      const current = openVerification(deps, stored);
      em.assign(stored, seal(deps, id, withStoredSecret(config ?? { type: 'none' }, current)));
      // A secret that is set by an update counts alone, and at once.
      if (config === null || config.type !== current?.type || !isKept(config.secret)) em.assign(stored, NOT_ROTATED);
    }
    em.assign(stored, { ...field.sent(body), ...tokenColumns(deps, id, body.ingestToken, stored) });
    requireSignature(stored.idempotencyKey, stored.verification);
    return stored;
  });
  ctx.body = await showSource(ctx, deps, source);
}

async function remove(ctx: Context, deps: ApiDeps): Promise<void> {
  const id = param(ctx, 'id');
  requireId('source', 'src', id);
  if (!(await deleteSource(deps.pool, organizationId(ctx), id))) throw notFound('source', id);
  ctx.status = 204;
}

/** Checks a verificationConfig. If the type is unchanged, the secret may be omitted or sent back masked. */
function withStoredSecret(config: Record<string, unknown>, stored: VerificationConfig | null): VerificationConfig {
  const storedSecret = stored && stored.type === config.type && 'secret' in stored ? stored.secret : undefined;
  const known = isKept(config.secret) ? { ...config, secret: storedSecret } : config;
  const { verificationConfig: checked } = check(
    z.object({ verificationConfig: verificationConfigSchema }),
    { verificationConfig: known },
    'The body',
  );
  return checked;
}

/** @throws ApiError 400 when repeats are to be known by a signature that requests do not have */
function requireSignature(rule: IdempotencyKeyRule | null | undefined, { type }: { type: string }): void {
  if (rule?.signature && type === 'none') {
    throw invalid('idempotencyKey.signature', 'needs a verificationConfig other than none');
  }
}

const isKept = (secret: unknown) => secret === undefined || (typeof secret === 'string' && isRedacted(secret));
const NOT_ROTATED = { previousVerificationSecret: null, previousSecretUntil: null };

/** The stored verificationConfig with its secret in clear; null when it has none. */
export function openVerification(deps: Pick<ApiDeps, 'secretBox'>, source: Source): VerificationConfig | null {
  if (source.verificationSecret === null || source.verificationSecret === undefined) return null;
  const secret = deps.secretBox.decrypt(source.verificationSecret, source.id);
  return verificationConfigSchema.parse({ ...source.verification, secret });
}

/** The columns of a verificationConfig: the public members in clear, the secret encrypted. */
function seal(deps: ApiDeps, id: string, config: VerificationConfig) {
  return {
    verification: publicVerificationConfig(config),
    verificationSecret: 'secret' in config ? deps.secretBox.encrypt(config.secret, id) : null,
  };
}

/** As answers show it. */
export async function showSource(ctx: Context, deps: ApiDeps, source: Source) {
  const totals = await ingestTotals(deps.pool, [source.id]);
  return show(ctx, deps, source, totals.get(source.id));
}

function show(ctx: Context, deps: ApiDeps, source: Source, totals: IngestTotals) {
  return toAnswer(sourceMembers, source, {
    webhookUrl: webhookUrl(ctx, deps, source),
    previousTokenUntil: stillValid(source.previousTokenUntil),
    verificationConfig: source.verification,
    previousSecretUntil: stillValid(source.previousSecretUntil),
    eventsCount: totals.events,
    lastEventAt: totals.lastEventAt,
  });
}

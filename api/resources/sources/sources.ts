// Sources: list, create, get, update, delete.
import { z } from 'zod';
import { providerOf } from '../../../core/verification/config.ts';
import { deleteSource } from '../../../db/delivery/deletions.ts';
import { Source } from '../../../db/records/entities.ts';
import { type Handshaken, lastHandshakes } from '../../../db/handshakes.ts';
import { type IngestTotals, ingestTotals } from '../../../db/ledger/statistics.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { type ApiDeps, type Context, entityManager, organizationId, param } from '../../request/context.ts';
import { invalid, notFound } from '../../request/errors.ts';
import * as field from '../fields.ts';
import {
  createSourceBody,
  createSourceSchema,
  putSourceSchema,
  sourceAnswer,
  sourceMembers,
  updateSourceSchema,
} from './source-members.ts';
import { toAnswer } from '../table.ts';
import { listOf } from '../values.ts';
import type { Operation } from '../../request/operation.ts';
import { booleanParam, containsPattern, listAnswer, newestFirst, pageParams, textParam } from '../../request/query.ts';
import {
  despiteConflicts,
  findSource,
  putBySlug,
  requireId,
  requireWanted,
  slugOf,
  stillValid,
  tell,
} from '../records.ts';
import { parseBody, parseQuery } from '../../request/validation.ts';
import {
  handshakeColumns,
  rotateTokenOperation,
  shownHandshake,
  shownLastHandshake,
  tokenColumns,
  webhookUrl,
} from './source-address.ts';
import { changeSource, makeSource, replaceSource } from './source-record.ts';
import { changedVerification, secretWarnings } from './source-verification.ts';

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
    versioned: true,
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
        provider: {
          name: 'Payments',
          slug: 'payments',
          provider: 'stripe',
          verificationConfig: { secret: 'whsec_the secret that Stripe shows' },
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
    versioned: true,
    run: get,
    summary: 'Get a source',
    answer: { status: 200, description: 'The source.', schema: sourceAnswer },
  },
  {
    ...common,
    method: 'patch',
    path: `${base}/{id}`,
    operationId: 'updateSource',
    versioned: true,
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
    method: 'put',
    path: `${base}/by-slug/{slug}`,
    operationId: 'putSource',
    versioned: true,
    run: put,
    summary: 'Create or replace the source of a slug',
    description:
      'The source becomes what a create would make of the body: what is left out goes back to its default. What protects it stays: `provider`, `verificationConfig`, `handshake`, `ingestToken` and `concealed` if they are left out, and a secret that is left out of a `verificationConfig` of the same type. A `verificationConfig` of the type `none` turns verification off.',
    body: {
      schema: putSourceSchema,
      examples: { plain: { name: 'Orders' }, token: { name: 'Orders', ingestToken: 'required', allowPaths: true } },
    },
    answer: {
      status: 200,
      description: 'The source as it is now.',
      ofNew: 'The source, which is new; `verificationConfig` has only its type.',
      schema: sourceAnswer,
    },
    errors: { 400: ['INVALID_SLUG'] },
  },
  {
    ...common,
    method: 'delete',
    path: `${base}/{id}`,
    operationId: 'deleteSource',
    versioned: true,
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
  const ids = sources.map((source) => source.id);
  const totals = await ingestTotals(deps.pool, organizationId(ctx), 'source', ids);
  const handshakes = await lastHandshakes(deps.pool, organizationId(ctx), ids);
  ctx.body = listAnswer(
    sources.map((source) => show(ctx, deps, source, totals.get(source.id), handshakes.get(source.id))),
    total,
    query,
  );
}

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const source = await makeSource(ctx, deps, await parseBody(ctx, createSourceSchema));
  ctx.status = 201;
  ctx.body = await showNew(ctx, deps, source);
}

async function put(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseBody(ctx, putSourceSchema);
  const slug = slugOf(ctx, body.slug);
  const source = await putBySlug(ctx, deps, slug, {
    ...{ kind: 'source', entity: Source },
    create: () => makeSource(ctx, deps, { ...body, slug }),
    replace: (id) => replaceSource(ctx, deps, id, { ...body, slug }),
  });
  ctx.body = await (ctx.status === 201 ? showNew : showSource)(ctx, deps, source);
}

async function get(ctx: Context, deps: ApiDeps): Promise<void> {
  ctx.body = await showSource(ctx, deps, await findSource(entityManager(ctx, deps), param(ctx, 'id')));
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  const id = param(ctx, 'id');
  const { verificationConfig: config, provider, handshake, slug, ...body } = await parseBody(ctx, updateSourceSchema);
  const source = await changeSource(ctx, deps, id, (stored) => {
    if (slug !== undefined && slug !== stored.slug) throw invalid('slug', 'cannot be changed after creation');
    const verified = changedVerification(deps, stored, provider, config);
    const tokens = tokenColumns(deps, id, body.ingestToken, stored);
    return { ...verified, ...field.sent(body), ...tokens, ...handshakeColumns(deps, id, handshake, stored) };
  });
  ctx.body = await showSource(ctx, deps, source);
}

async function remove(ctx: Context, deps: ApiDeps): Promise<void> {
  const id = param(ctx, 'id');
  requireId('source', 'src', id);
  const deleted = await despiteConflicts(() =>
    deleteSource(deps.pool, organizationId(ctx), id, (version, routeIds) => {
      requireWanted(ctx, 'source', { id, version });
      // They go with it.
      noteRecords(ctx, routeIds);
    }),
  );
  if (!deleted) throw notFound('source', id);
  ctx.status = 204;
}

/** Of the verification only the type. */
async function showNew(ctx: Context, deps: ApiDeps, source: Source) {
  return { ...(await showSource(ctx, deps, source)), verificationConfig: { type: source.verification.type } };
}

/** As answers with one source show it, which carry its `ETag`. */
export async function showSource(ctx: Context, deps: ApiDeps, source: Source) {
  const { id } = source;
  tell(ctx, source);
  const totals = await ingestTotals(deps.pool, organizationId(ctx), 'source', [id]);
  const handshakes = await lastHandshakes(deps.pool, organizationId(ctx), [id]);
  return show(ctx, deps, source, totals.get(id), handshakes.get(id));
}

function show(
  ctx: Context,
  deps: ApiDeps,
  source: Source,
  totals: IngestTotals,
  handshake: Omit<Handshaken, 'sourceId'> | undefined,
) {
  return toAnswer(sourceMembers, source, {
    webhookUrl: webhookUrl(ctx, deps, source),
    previousTokenUntil: stillValid(source.previousTokenUntil),
    verificationConfig: source.verification,
    provider: providerOf(source),
    previousSecretUntil: stillValid(source.previousSecretUntil),
    handshake: shownHandshake(deps, source),
    lastHandshake: handshake ? shownLastHandshake(ctx, deps, source.id, handshake) : null,
    eventsCount: totals.events,
    lastEventAt: totals.lastEventAt,
    warnings: secretWarnings(deps, source),
  });
}

// Sources: list, create, get, update, delete.
import { z } from 'zod';
import { providerOf } from '../../../core/verification/config.ts';
import { deleteSource } from '../../../db/delivery/deletions.ts';
import { Source } from '../../../db/records/entities.ts';
import { lastHandshakes } from '../../../db/handshakes.ts';
import { ingestTotals } from '../../../db/ledger/statistics.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { type ApiDeps, type Context, entityManager, organizationId, param } from '../../request/context.ts';
import { invalid, notFound } from '../../request/errors.ts';
import { crudOperations } from '../crud.ts';
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
import type { Operation } from '../../request/operation.ts';
import { booleanParam, listAnswer, newestFirst } from '../../request/query.ts';
import {
  despiteConflicts,
  findSource,
  matching,
  putBySlug,
  requireId,
  requireWanted,
  searchParams,
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

const listSchema = z.object({ ...searchParams('name or slug'), enabled: booleanParam });

const base = '/api/organizations/{orgId}/sources';

export const sourceOperations: Operation[] = [
  ...crudOperations({
    tag: 'Sources',
    idOf: ['src'],
    base,
    name: 'Source',
    noun: 'source',
    answer: sourceAnswer,
    list: { run: list, query: listSchema },
    create: {
      run: create,
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
      shows: 'The source; `verificationConfig` has only its type.',
      errors: { 400: ['INVALID_SLUG'], 409: ['DUPLICATE_SLUG'] },
    },
    get,
    update: {
      run: update,
      description: 'The slug cannot be changed.',
      body: {
        schema: updateSourceSchema,
        examples: { pause: { enabled: false }, rename: { name: 'Orders of the shop' } },
      },
    },
    put: {
      run: put,
      description:
        'What protects it stays: `provider`, `verificationConfig`, `handshake`, `ingestToken` and `concealed` if they are left out, and a secret that is left out of a `verificationConfig` of the same type. A `verificationConfig` of the type `none` turns verification off.',
      body: {
        schema: putSourceSchema,
        examples: { plain: { name: 'Orders' }, token: { name: 'Orders', ingestToken: 'required', allowPaths: true } },
      },
      errors: { 400: ['INVALID_SLUG'] },
    },
    remove: { run: remove, description: 'Also deletes its events and deliveries.' },
  }),
  rotateTokenOperation(base, showSource),
];

async function list(ctx: Context, deps: ApiDeps): Promise<void> {
  const query = parseQuery(ctx, listSchema);
  const [sources, total] = await entityManager(ctx, deps).findAndCount(
    Source,
    matching(query, 'name', 'slug'),
    newestFirst(query),
  );
  ctx.body = listAnswer(await showAll(ctx, deps, sources), total, query);
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
  requireId('source', ['src'], id);
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
  tell(ctx, source);
  const [shown] = await showAll(ctx, deps, [source]);
  return shown;
}

async function showAll(ctx: Context, deps: ApiDeps, sources: Source[]) {
  const ids = sources.map(({ id }) => id);
  const allTotals = await ingestTotals(deps.pool, organizationId(ctx), 'source', ids);
  const handshakes = await lastHandshakes(deps.pool, organizationId(ctx), ids);
  return sources.map((source) => {
    const totals = allTotals.get(source.id);
    const handshake = handshakes.get(source.id);
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
  });
}

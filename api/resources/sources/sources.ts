import { z } from 'zod';
import { providerOf } from '../../../core/verification/config.ts';
import { deleteSource } from '../../../db/delivery/deletions.ts';
import { Source } from '../../../db/records/entities.ts';
import { ingestTotals } from '../../../db/ledger/statistics.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { type Context, organizationId, param } from '../../request/context.ts';
import { conflict, invalid, notFound } from '../../request/errors.ts';
import { crudOperations, showOne } from '../crud.ts';
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
import { withExample } from '../values.ts';
import { type Operation, operation } from '../../request/operation.ts';
import { booleanParam } from '../../request/query.ts';
import {
  changeRecord,
  despiteConflicts,
  findSource,
  matching,
  putBySlug,
  requireId,
  requireWanted,
  searchParams,
  slugOf,
  stillValid,
} from '../records.ts';
import { parseBody } from '../../request/validation.ts';
import {
  handshakeColumns,
  sealedToken,
  shownHandshake,
  shownLastHandshake,
  tokenColumns,
  webhookUrl,
} from './source-address.ts';
import { changeSource, makeSource, replaceSource } from './source-record.ts';
import { changedVerification, secretWarnings } from './source-verification.ts';

const DAY_SECONDS = 86_400;

const base = '/api/organizations/{orgId}/sources';

export const sourceOperations: Operation[] = [
  ...crudOperations({
    tag: 'Sources',
    base,
    name: 'Source',
    noun: 'source',
    answer: sourceAnswer,
    entity: Source,
    find: findSource,
    show: showAll,
    list: {
      query: z.object({ ...searchParams('name or slug'), enabled: booleanParam }),
      where: (query) => matching(query, 'name', 'slug'),
    },
    create: {
      run: async (ctx) => makeSource(ctx, await parseBody(ctx, createSourceSchema)),
      body: {
        schema: createSourceBody,
        examples: {
          plain: { name: 'Orders', slug: 'orders' },
          github: {
            name: 'GitHub',
            slug: 'github',
            verificationConfig: { type: 'github', secret: 'the secret set in GitHub' },
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
            description: 'Signed, with duplicate detection',
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
      shows: 'The source. `verificationConfig` contains only the type.',
      showNew: ({ verification: { type } }) => ({ verificationConfig: { type } }),
      errors: { 400: ['INVALID_SLUG'], 409: ['DUPLICATE_SLUG'] },
    },
    update: {
      async run(ctx) {
        const body = await parseBody(ctx, updateSourceSchema);
        const { verificationConfig: config, provider, handshake, slug, ...members } = body;
        return changeSource(ctx, param(ctx, 'id'), (stored) => {
          if (slug !== undefined && slug !== stored.slug) throw invalid('slug', 'cannot be changed after creation');
          const verified = changedVerification(ctx.deps, stored, provider, config);
          const tokens = tokenColumns(ctx.deps, stored.id, members.ingestToken, stored);
          const answered = handshakeColumns(ctx.deps, stored.id, handshake, stored);
          return { ...verified, ...field.sent(members), ...tokens, ...answered };
        });
      },
      description: 'The slug cannot be changed.',
      body: {
        schema: updateSourceSchema,
        examples: { disable: { enabled: false }, rename: { name: 'Shop orders' } },
      },
    },
    put: {
      async run(ctx) {
        const body = await parseBody(ctx, putSourceSchema);
        const slug = slugOf(ctx, body.slug);
        return putBySlug(ctx, slug, {
          ...{ kind: 'source', entity: Source },
          create: () => makeSource(ctx, { ...body, slug }),
          replace: (id) => replaceSource(ctx, id, { ...body, slug }),
        });
      },
      description:
        'Omitted protection settings keep their values: `provider`, `verificationConfig`, `handshake`, `ingestToken` and `concealed`, and the secret in a `verificationConfig` of the same type. A `verificationConfig` of type `none` turns verification off.',
      body: {
        schema: putSourceSchema,
        examples: { plain: { name: 'Orders' }, token: { name: 'Orders', ingestToken: 'required', allowPaths: true } },
      },
      errors: { 400: ['INVALID_SLUG'] },
    },
    remove: { run: remove, description: "Also deletes the source's routes, events and deliveries." },
  }),
  operation('rotateIngestToken', 'post', `${base}/{id}/rotate-token`, {
    tag: 'Sources',
    idOf: ['src'],
    summary: "Rotate a source's ingest URL token",
    description: 'The previous URL stays valid for an overlap period so that you can change the URL at the sender.',
    body: {
      schema: z.object({
        overlapSeconds: withExample(
          z
            .int()
            .min(0)
            .max(7 * DAY_SECONDS)
            .optional(),
          DAY_SECONDS,
          'How long the previous URL stays valid, in seconds. Defaults to a day.',
        ),
      }),
      examples: { immediately: { overlapSeconds: 0 } },
      optional: true,
    },
    answer: { description: 'The source with its new `webhookUrl`.', schema: sourceAnswer },
    errors: { 409: ['INVALID_STATE'] },
    async run(ctx, { body: { overlapSeconds = DAY_SECONDS } }) {
      const source = await changeRecord(ctx, findSource, (stored, em) => {
        if (stored.ingestToken === 'none')
          throw conflict('The ingest URL has no token; set ingestToken to "optional" or "required" first');
        em.assign(stored, {
          ...sealedToken(ctx.deps, stored.id),
          previousTokenValue: stored.ingestTokenValue ?? null,
          previousTokenUntil: new Date(Date.now() + overlapSeconds * 1000),
        });
      });
      return showSource(ctx, source);
    },
  }),
];

async function remove(ctx: Context): Promise<void> {
  const id = param(ctx, 'id');
  requireId('source', ['src'], id);
  const deleted = await despiteConflicts(() =>
    deleteSource(ctx.deps.pool, organizationId(ctx), id, (version, routeIds) => {
      requireWanted(ctx, 'source', { id, version });
      noteRecords(ctx, routeIds);
    }),
  );
  if (!deleted) throw notFound('source', id);
}

export const showSource = (ctx: Context, source: Source) => showOne(ctx, showAll, source);

async function showAll(ctx: Context, sources: Source[]) {
  const ids = sources.map(({ id }) => id);
  const allTotals = await ingestTotals(ctx.deps.pool, organizationId(ctx), 'source', ids);
  return sources.map((source) => {
    const totals = allTotals.get(source.id);
    return toAnswer(sourceMembers, source, {
      webhookUrl: webhookUrl(ctx, source),
      previousTokenUntil: stillValid(source.previousTokenUntil),
      verificationConfig: source.verification,
      provider: providerOf(source),
      previousSecretUntil: stillValid(source.previousSecretUntil),
      handshake: shownHandshake(ctx.deps, source),
      lastHandshake: shownLastHandshake(ctx, source),
      eventsCount: totals.events,
      lastEventAt: totals.lastEventAt,
      warnings: secretWarnings(ctx.deps, source),
    });
  });
}

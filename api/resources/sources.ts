// Sources: list, create, get, update, delete.
// Rules: SRC-01 to SRC-11, SRC-18 to SRC-27.
import { z } from 'zod';
import { parsePath } from '../../core/dotted-path.ts';
import { checkHeaderName } from '../../core/headers.ts';
import { newId } from '../../core/ids.ts';
import { isRedacted } from '../../core/redaction.ts';
import {
  publicVerificationConfig,
  type VerificationConfig,
  verificationConfigSchema,
} from '../../core/signatures/index.ts';
import { deleteSource } from '../../db/delivery/delivery-commands.ts';
import { Source, type StoredVerification } from '../../db/entities.ts';
import { type IngestTotals, ingestTotals } from '../../db/history/statistics.ts';
import {
  type ApiDeps,
  type ApiRouter,
  callerOf,
  type Context,
  entityManager,
  organizationId,
  param,
} from '../context.ts';
import { ApiError, invalid, notFound } from '../errors.ts';
import { listAnswer, newestFirst, pageParams } from '../pagination.ts';
import { booleanParam, containsPattern, textParam } from '../query.ts';
import { findSource, isoTime, requireId, violates } from '../records.ts';
import { check, parseBody, parseQuery } from '../validation.ts';
import * as field from './fields.ts';

const MAX_WINDOW_SECONDS = 604_800;

const idempotencyKey = z
  .object({
    header: z
      .string()
      .max(256)
      .refine((header) => checkHeaderName(header) === null, 'must be a header name')
      .optional(),
    jsonPath: z
      .string()
      .refine((path) => parsePath(path) !== null, 'must be a path into the payload, for example $.order.id')
      .optional(),
    windowSeconds: z.int().min(1).max(MAX_WINDOW_SECONDS),
  })
  .refine(
    (rule) => (rule.header === undefined) !== (rule.jsonPath === undefined),
    'must have either header or jsonPath',
  );

// Checked in full by `withStoredSecret`, which knows what is stored.
const verificationConfig = z.looseObject({ type: z.string() }).nullable();

const changeable = {
  name: field.name,
  description: field.description.optional(),
  verificationConfig: verificationConfig.optional(),
  idempotencyKey: idempotencyKey.nullable().optional(),
  enabled: field.enabled.optional(),
};
export const createSchema = z.object({ ...changeable, slug: field.slug });
export const updateSchema = z.object({ ...changeable, name: field.name.optional(), slug: z.string().optional() });
export const listSchema = z.object({
  ...pageParams,
  enabled: booleanParam,
  search: textParam.meta({ description: 'A part of the name or slug, whatever its case.' }),
});

export function mountSources(router: ApiRouter, deps: ApiDeps): void {
  const base = '/api/organizations/:orgId/sources';
  router.get(base, (ctx) => list(ctx, deps));
  router.post(base, (ctx) => create(ctx, deps));
  router.get(`${base}/:id`, (ctx) => get(ctx, deps));
  router.patch(`${base}/:id`, (ctx) => update(ctx, deps));
  router.delete(`${base}/:id`, (ctx) => remove(ctx, deps));
}

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
  const body = await parseBody(ctx, createSchema);
  const id = newId('src');
  const verification = withStoredSecret(body.verificationConfig ?? { type: 'none' }, null);
  const em = entityManager(ctx, deps);
  const source = em.create(Source, {
    id,
    organizationId: organizationId(ctx),
    name: body.name,
    slug: body.slug,
    description: body.description ?? null,
    ...seal(deps, id, verification),
    idempotencyKey: body.idempotencyKey ?? null,
    enabled: body.enabled ?? true,
  });
  try {
    await em.persist(source).flush();
  } catch (error) {
    if (!violates(error, 'sources_slug_unique')) throw error;
    throw new ApiError(409, 'DUPLICATE_SLUG', `A source with the slug ${body.slug} exists already; choose another`);
  }
  ctx.status = 201;
  const shown = await showOne(ctx, deps, source);
  // Only the type (SRC-18).
  ctx.body = { ...shown, verificationConfig: { type: verification.type } };
}

async function get(ctx: Context, deps: ApiDeps): Promise<void> {
  ctx.body = await showOne(ctx, deps, await findSource(entityManager(ctx, deps), param(ctx, 'id')));
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  const id = param(ctx, 'id');
  const { verificationConfig: config, slug, ...body } = await parseBody(ctx, updateSchema);
  const source = await entityManager(ctx, deps).transactional(async (em) => {
    const stored = await findSource(em, id, 'lock');
    if (slug !== undefined && slug !== stored.slug) throw invalid('slug', 'cannot be changed after creation');
    if (config !== undefined) {
      em.assign(stored, seal(deps, id, withStoredSecret(config ?? { type: 'none' }, openStored(deps, stored))));
    }
    em.assign(stored, field.sent(body));
    return stored;
  });
  ctx.body = await showOne(ctx, deps, source);
}

async function remove(ctx: Context, deps: ApiDeps): Promise<void> {
  const id = param(ctx, 'id');
  requireId('source', 'src', id);
  if (!(await deleteSource(deps.pool, organizationId(ctx), id))) throw notFound('source', id);
  ctx.status = 204;
}

/** Checks a verificationConfig. Of the same type as the stored one, it may leave its secret out or send it back masked. */
function withStoredSecret(config: Record<string, unknown>, stored: VerificationConfig | null): VerificationConfig {
  const { secret } = config;
  const storedSecret = stored && stored.type === config.type && 'secret' in stored ? stored.secret : undefined;
  const isKept = secret === undefined || (typeof secret === 'string' && isRedacted(secret));
  const known = isKept ? { ...config, secret: storedSecret } : config;
  const { verificationConfig: checked } = check(
    z.object({ verificationConfig: verificationConfigSchema }),
    { verificationConfig: known },
    'The body',
  );
  return checked;
}

function openStored(deps: ApiDeps, source: Source): VerificationConfig | null {
  if (source.verificationSecret === null || source.verificationSecret === undefined) return null;
  const secret = deps.secretBox.decrypt(source.verificationSecret, source.id);
  return verificationConfigSchema.parse({ ...source.verification, secret });
}

/** The columns of a verificationConfig: what is public in clear, the secret encrypted. */
function seal(deps: ApiDeps, id: string, config: VerificationConfig) {
  return {
    verification: publicVerificationConfig(config) as unknown as StoredVerification,
    verificationSecret: 'secret' in config ? deps.secretBox.encrypt(config.secret, id) : null,
  };
}

async function showOne(ctx: Context, deps: ApiDeps, source: Source) {
  const totals = await ingestTotals(deps.pool, [source.id]);
  return show(ctx, deps, source, totals.get(source.id));
}

function show(ctx: Context, deps: ApiDeps, source: Source, totals: IngestTotals) {
  return {
    id: source.id,
    name: source.name,
    slug: source.slug,
    description: source.description ?? null,
    webhookUrl: `${deps.baseUrl()}/ingest/${callerOf(ctx).organization.slug}/${source.slug}`,
    verificationConfig: source.verification,
    idempotencyKey: source.idempotencyKey ?? null,
    enabled: source.enabled,
    eventsCount: totals.events,
    lastEventAt: isoTime(totals.lastEventAt),
    createdAt: isoTime(source.createdAt),
    updatedAt: isoTime(source.updatedAt),
  };
}

// Transforms: code that makes of an event what is sent (decisions, "Routes, filters, transforms, schemas").
import { LockMode } from '@mikro-orm/core';
import { z } from 'zod';
import {
  SandboxUnavailableError,
  type TransformCode,
  type TransformProblem,
} from '../../activities/transforms/index.ts';
import { isMediaType } from '../../core/headers.ts';
import { newId } from '../../core/ids.ts';
import { Transform, type TransformType } from '../../db/entities.ts';
import type { EntityManager } from '../../db/orm.ts';
import { type ApiDeps, type ApiRouter, type Context, entityManager, organizationId, param } from '../context.ts';
import { ApiError, notFound, unavailable } from '../errors.ts';
import { limitOf, listAnswer } from '../pagination.ts';
import { isoTime, requireId } from '../records.ts';
import { parseBody, parseOptionalBody, parseQuery } from '../validation.ts';
import * as field from './fields.ts';
import {
  namedListSchema,
  namedMembers,
  searched,
  type SlugRules,
  storeWithSlug,
  updateWithSlug,
} from './named-records.ts';
import { requireUnused, routeCounts } from './route-references.ts';

const TYPES = ['jsonata', 'javascript', 'liquid'] as const satisfies readonly TransformType[];
const MAX_CODE_LENGTH = 100_000;

const codeMembers = {
  type: z.enum(TYPES),
  code: z
    .string()
    .max(MAX_CODE_LENGTH)
    .refine((code) => code.trim() !== '', 'must not be empty'),
  outputContentType: z
    .string()
    .refine(isMediaType, 'must be a media type, for example application/xml')
    .nullable()
    .optional(),
};
const createSchema = z.object({ ...namedMembers, ...codeMembers });
const updateSchema = createSchema.partial();
const sampleSchema = z.object({
  payload: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  query: z.string().max(8192).optional(),
  method: z.enum(['POST', 'PUT', 'PATCH']).optional(),
});
const testCodeSchema = sampleSchema.extend(codeMembers);

const slugRules: SlugRules = {
  kind: 'transform',
  constraint: 'transforms_slug_unique',
  taken: async (em, prefix) =>
    (await em.find(Transform, { slug: { $like: prefix } }, { fields: ['slug'] })).map(({ slug }) => slug),
};

export function mountTransforms(router: ApiRouter, deps: ApiDeps): void {
  const base = '/api/transforms';
  router.get(base, (ctx) => list(ctx, deps));
  router.post(base, (ctx) => create(ctx, deps));
  // Before `:id`: "test" is a fixed word, not an id.
  router.post(`${base}/test`, (ctx) => testCode(ctx, deps));
  router.get(`${base}/:id`, (ctx) => get(ctx, deps));
  router.patch(`${base}/:id`, (ctx) => update(ctx, deps));
  router.delete(`${base}/:id`, (ctx) => remove(ctx, deps));
  router.post(`${base}/:id/test`, (ctx) => test(ctx, deps));
}

async function list(ctx: Context, deps: ApiDeps): Promise<void> {
  const query = parseQuery(ctx, namedListSchema);
  const em = entityManager(ctx, deps);
  const [transforms, total] = await em.findAndCount(Transform, searched(query.search), {
    ...limitOf(query),
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });
  ctx.body = listAnswer(await showAll(em, transforms), total, query);
}

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseBody(ctx, createSchema);
  await requireGoodCode(ctx, deps, body);
  const transform = await storeWithSlug(
    slugRules,
    body,
    () => entityManager(ctx, deps),
    async (em, slug) => {
      const created = em.create(Transform, {
        id: newId('tfm'),
        organizationId: organizationId(ctx),
        name: body.name,
        slug,
        description: body.description ?? null,
        type: body.type,
        code: body.code,
        outputContentType: body.outputContentType ?? null,
      });
      await em.persist(created).flush();
      return created;
    },
  );
  ctx.status = 201;
  ctx.body = await showOne(entityManager(ctx, deps), transform);
}

async function get(ctx: Context, deps: ApiDeps): Promise<void> {
  const em = entityManager(ctx, deps);
  ctx.body = await showOne(em, await findTransform(em, param(ctx, 'id')));
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  const patch = await parseBody(ctx, updateSchema);
  let transform: Transform | null = null;
  while (!transform) transform = await tryUpdate(ctx, deps, patch);
  ctx.body = await showOne(entityManager(ctx, deps), transform);
}

/**
 * Applies a patch. The code is checked before the record is locked: that may take a second.
 * @returns null when the code was changed by another request meanwhile
 */
async function tryUpdate(ctx: Context, deps: ApiDeps, patch: z.output<typeof updateSchema>): Promise<Transform | null> {
  const id = param(ctx, 'id');
  const em = entityManager(ctx, deps);
  const { type, code } = await findTransform(em.fork(), id);
  if (patch.type !== undefined || patch.code !== undefined) {
    await requireGoodCode(ctx, deps, { type: patch.type ?? type, code: patch.code ?? code });
  }
  return updateWithSlug(slugRules, patch.slug, () =>
    em.transactional(async (transaction) => {
      const stored = await findTransform(transaction, id, 'lock');
      if (stored.type !== type || stored.code !== code) return null;
      transaction.assign(stored, field.sent(patch));
      return stored;
    }),
  );
}

async function remove(ctx: Context, deps: ApiDeps): Promise<void> {
  const id = param(ctx, 'id');
  await entityManager(ctx, deps).transactional(async (em) => {
    const transform = await findTransform(em, id, 'lock');
    await requireUnused(em, 'transformId', transform);
    em.remove(transform);
  });
  ctx.status = 204;
}

async function test(ctx: Context, deps: ApiDeps): Promise<void> {
  const sample = await parseOptionalBody(ctx, sampleSchema);
  const { id, version, type, code, outputContentType } = await findTransform(
    entityManager(ctx, deps),
    param(ctx, 'id'),
  );
  const transform = { key: `${id}:${version}`, type, code, outputContentType: outputContentType ?? null };
  ctx.body = await tryOut(ctx, deps, transform, sample);
}

/** Tries code that is not stored. */
async function testCode(ctx: Context, deps: ApiDeps): Promise<void> {
  const { type, code, outputContentType, ...sample } = await parseBody(ctx, testCodeSchema);
  const transform = { key: null, type, code, outputContentType: outputContentType ?? null };
  ctx.body = await tryOut(ctx, deps, transform, sample);
}

async function tryOut(ctx: Context, deps: ApiDeps, transform: TransformCode, sample: z.output<typeof sampleSchema>) {
  const event = {
    id: newId('evt'),
    source: 'test',
    method: sample.method ?? 'POST',
    query: sample.query ?? '',
    headers: { 'content-type': 'application/json', ...sample.headers },
    body: Buffer.from(JSON.stringify(sample.payload ?? null)),
    receivedAt: new Date(),
  };
  const result = await inSandbox(() => deps.transforms.run(transform, event, organizationId(ctx)));
  const durationMs = Math.round(result.durationMs * 100) / 100;
  if (!result.ok) {
    const { message, line, column } = result.problem;
    return { success: false, error: { message, line, column }, outputContentType: null, durationMs };
  }
  const { body, isText, contentType } = result.output;
  const text = Buffer.from(body).toString();
  return { success: true, output: isText ? text : JSON.parse(text), outputContentType: contentType, durationMs };
}

/** @throws ApiError 400 INVALID_TRANSFORM with the place in the code */
async function requireGoodCode(ctx: Context, deps: ApiDeps, code: Pick<TransformCode, 'type' | 'code'>): Promise<void> {
  const problem = await inSandbox(() => deps.transforms.check(code, organizationId(ctx)));
  if (problem) throw invalidTransform(problem);
}

function invalidTransform({ message, line, column }: TransformProblem): ApiError {
  if (line === null || column === null) {
    return new ApiError(400, 'INVALID_TRANSFORM', `code cannot be used: ${message}`, [{ path: 'code', message }]);
  }
  return new ApiError(400, 'INVALID_TRANSFORM', `code has an error in line ${line}, column ${column}: ${message}`, [
    { path: 'code', message, line, column },
  ]);
}

/** @throws ApiError 503 when the sandbox cannot be used at the moment */
async function inSandbox<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof SandboxUnavailableError) throw unavailable(error.message);
    throw error;
  }
}

/** @throws ApiError 404 */
async function findTransform(em: EntityManager, id: string, lock?: 'lock'): Promise<Transform> {
  requireId('transform', 'tfm', id);
  const transform = await em.findOne(Transform, { id }, lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {});
  if (!transform) throw notFound('transform', id);
  return transform;
}

async function showOne(em: EntityManager, transform: Transform) {
  const [shown] = await showAll(em, [transform]);
  return shown;
}

async function showAll(em: EntityManager, transforms: Transform[]) {
  const ids = transforms.map(({ id }) => id);
  const counts = await routeCounts(em, 'transformId', ids);
  return transforms.map((transform) => ({
    id: transform.id,
    name: transform.name,
    slug: transform.slug,
    description: transform.description ?? null,
    type: transform.type,
    code: transform.code,
    outputContentType: transform.outputContentType ?? null,
    version: transform.version,
    routeCount: counts.get(transform.id),
    createdAt: isoTime(transform.createdAt),
    updatedAt: isoTime(transform.updatedAt),
  }));
}

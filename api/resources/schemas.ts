// JSON Schemas that the payloads of a route must match (decisions, "Routes, filters, transforms, schemas").
import { LockMode } from '@mikro-orm/core';
import { z } from 'zod';
import { newId } from '../../core/ids.ts';
import { validatorOf } from '../../core/schemas/cached.ts';
import { checkSchema, InvalidSchemaError, type JsonSchema } from '../../core/schemas/schema.ts';
import { Schema } from '../../db/entities.ts';
import type { EntityManager } from '../../db/orm.ts';
import { type ApiDeps, type ApiRouter, type Context, entityManager, organizationId, param } from '../context.ts';
import { notFound } from '../errors.ts';
import { limitOf, listAnswer } from '../pagination.ts';
import { isoTime, requireId } from '../records.ts';
import { parseBody, parseQuery, refuse } from '../validation.ts';
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

// Taken as it was sent: a copy by members would lose one called __proto__.
const isJsonSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));

const jsonSchema = z
  .custom<JsonSchema>(isJsonSchema, 'must be a JSON Schema: an object, or true or false')
  .superRefine((given, context) => {
    if (!isJsonSchema(given)) return;
    try {
      checkSchema(given);
    } catch (error) {
      if (!(error instanceof InvalidSchemaError)) throw error;
      refuse(context, 'INVALID_SCHEMA', error.message);
    }
  });

const createSchema = z.object({ ...namedMembers, schema: jsonSchema });
const updateSchema = createSchema.partial();
const validateSchema = z.object({ payload: z.unknown().refine((payload) => payload !== undefined, 'is required') });

const slugRules: SlugRules = {
  kind: 'schema',
  constraint: 'schemas_slug_unique',
  taken: async (em, prefix) =>
    (await em.find(Schema, { slug: { $like: prefix } }, { fields: ['slug'] })).map(({ slug }) => slug),
};

export function mountSchemas(router: ApiRouter, deps: ApiDeps): void {
  const base = '/api/schemas';
  router.get(base, (ctx) => list(ctx, deps));
  router.post(base, (ctx) => create(ctx, deps));
  router.get(`${base}/:id`, (ctx) => get(ctx, deps));
  router.patch(`${base}/:id`, (ctx) => update(ctx, deps));
  router.delete(`${base}/:id`, (ctx) => remove(ctx, deps));
  router.post(`${base}/:id/validate`, (ctx) => validate(ctx, deps));
}

async function list(ctx: Context, deps: ApiDeps): Promise<void> {
  const query = parseQuery(ctx, namedListSchema);
  const em = entityManager(ctx, deps);
  const [schemas, total] = await em.findAndCount(Schema, searched(query.search), {
    ...limitOf(query),
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });
  ctx.body = listAnswer(await showAll(em, schemas), total, query);
}

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseBody(ctx, createSchema);
  const schema = await storeWithSlug(
    slugRules,
    body,
    () => entityManager(ctx, deps),
    async (em, slug) => {
      const created = em.create(Schema, {
        id: newId('sch'),
        organizationId: organizationId(ctx),
        name: body.name,
        slug,
        description: body.description ?? null,
        schema: body.schema,
      });
      await em.persist(created).flush();
      return created;
    },
  );
  ctx.status = 201;
  ctx.body = await showOne(entityManager(ctx, deps), schema);
}

async function get(ctx: Context, deps: ApiDeps): Promise<void> {
  const em = entityManager(ctx, deps);
  ctx.body = await showOne(em, await findSchema(em, param(ctx, 'id')));
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  const id = param(ctx, 'id');
  const patch = await parseBody(ctx, updateSchema);
  const em = entityManager(ctx, deps);
  const schema = await updateWithSlug(slugRules, patch.slug, () =>
    em.transactional(async (transaction) => {
      const stored = await findSchema(transaction, id, 'lock');
      const { schema: changed, ...rest } = field.sent(patch);
      transaction.assign(stored, rest);
      // As a whole: an assignment would merge it into the stored one.
      if (changed !== undefined) stored.schema = changed;
      return stored;
    }),
  );
  ctx.body = await showOne(em, schema);
}

async function remove(ctx: Context, deps: ApiDeps): Promise<void> {
  const id = param(ctx, 'id');
  await entityManager(ctx, deps).transactional(async (em) => {
    const schema = await findSchema(em, id, 'lock');
    await requireUnused(em, 'schemaId', schema);
    em.remove(schema);
  });
  ctx.status = 204;
}

/** Tries the schema on a payload. */
async function validate(ctx: Context, deps: ApiDeps): Promise<void> {
  const id = param(ctx, 'id');
  const schema = await findSchema(entityManager(ctx, deps), id);
  const { payload } = await parseBody(ctx, validateSchema);
  const size = Buffer.byteLength(JSON.stringify(payload) ?? '');
  const errors = validatorOf(schema).validate(payload, size);
  ctx.body = { valid: errors.length === 0, errors };
}

/** @throws ApiError 404 */
async function findSchema(em: EntityManager, id: string, lock?: 'lock'): Promise<Schema> {
  requireId('schema', 'sch', id);
  const schema = await em.findOne(Schema, { id }, lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {});
  if (!schema) throw notFound('schema', id);
  return schema;
}

async function showOne(em: EntityManager, schema: Schema) {
  const [shown] = await showAll(em, [schema]);
  return shown;
}

async function showAll(em: EntityManager, schemas: Schema[]) {
  const ids = schemas.map(({ id }) => id);
  const counts = await routeCounts(em, 'schemaId', ids);
  return schemas.map((schema) => ({
    id: schema.id,
    name: schema.name,
    slug: schema.slug,
    description: schema.description ?? null,
    schema: schema.schema,
    version: schema.version,
    routeCount: counts.get(schema.id),
    createdAt: isoTime(schema.createdAt),
    updatedAt: isoTime(schema.updatedAt),
  }));
}

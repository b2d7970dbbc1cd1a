// Filters: conditions that several routes share (decisions, "Routes, filters, transforms, schemas").
import { LockMode } from '@mikro-orm/core';
import { z } from 'zod';
import type { FilterCondition } from '../../core/filters/conditions.ts';
import type { FilteredRequest } from '../../core/filters/fields.ts';
import { compileFilter, type FilterLogic } from '../../core/filters/filter.ts';
import { newId } from '../../core/ids.ts';
import { Filter } from '../../db/entities.ts';
import type { EntityManager } from '../../db/orm.ts';
import { type ApiDeps, type ApiRouter, type Context, entityManager, organizationId, param } from '../context.ts';
import { notFound } from '../errors.ts';
import { limitOf, listAnswer } from '../pagination.ts';
import { isoTime, requireId } from '../records.ts';
import { parseBody, parseQuery } from '../validation.ts';
import * as field from './fields.ts';
import { conditions, logic } from './filter-conditions.ts';
import {
  namedListSchema,
  namedMembers,
  searched,
  type SlugRules,
  storeWithSlug,
  updateWithSlug,
} from './named-records.ts';
import { requireUnused, routeCounts } from './route-references.ts';

const someConditions = conditions.min(1);
const createSchema = z.object({ ...namedMembers, conditions: someConditions, logic: logic.optional() });
const updateSchema = createSchema.partial();
const testSchema = z.object({
  payload: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  query: z.union([z.record(z.string(), z.string()), z.string()]).optional(),
  method: z.string().max(20).optional(),
});
const testConditionsSchema = testSchema.extend({ conditions, logic: logic.optional() });

const slugRules: SlugRules = {
  kind: 'filter',
  constraint: 'filters_slug_unique',
  taken: async (em, prefix) =>
    (await em.find(Filter, { slug: { $like: prefix } }, { fields: ['slug'] })).map(({ slug }) => slug),
};

export function mountFilters(router: ApiRouter, deps: ApiDeps): void {
  const base = '/api/filters';
  router.get(base, (ctx) => list(ctx, deps));
  router.post(base, (ctx) => create(ctx, deps));
  // Before `:id`: "test" is a fixed word, not an id.
  router.post(`${base}/test`, (ctx) => testConditions(ctx));
  router.get(`${base}/:id`, (ctx) => get(ctx, deps));
  router.patch(`${base}/:id`, (ctx) => update(ctx, deps));
  router.delete(`${base}/:id`, (ctx) => remove(ctx, deps));
  router.post(`${base}/:id/test`, (ctx) => test(ctx, deps));
}

async function list(ctx: Context, deps: ApiDeps): Promise<void> {
  const query = parseQuery(ctx, namedListSchema);
  const em = entityManager(ctx, deps);
  const [filters, total] = await em.findAndCount(Filter, searched(query.search), {
    ...limitOf(query),
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });
  ctx.body = listAnswer(await showAll(em, filters), total, query);
}

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseBody(ctx, createSchema);
  const filter = await storeWithSlug(
    slugRules,
    body,
    () => entityManager(ctx, deps),
    async (em, slug) => {
      const created = em.create(Filter, {
        id: newId('flt'),
        organizationId: organizationId(ctx),
        name: body.name,
        slug,
        description: body.description ?? null,
        conditions: body.conditions,
        logic: body.logic ?? 'AND',
      });
      await em.persist(created).flush();
      return created;
    },
  );
  ctx.status = 201;
  ctx.body = await showOne(entityManager(ctx, deps), filter);
}

async function get(ctx: Context, deps: ApiDeps): Promise<void> {
  const em = entityManager(ctx, deps);
  ctx.body = await showOne(em, await findFilter(em, param(ctx, 'id')));
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  const id = param(ctx, 'id');
  const patch = await parseBody(ctx, updateSchema);
  const em = entityManager(ctx, deps);
  const filter = await updateWithSlug(slugRules, patch.slug, () =>
    em.transactional(async (transaction) => {
      const stored = await findFilter(transaction, id, 'lock');
      transaction.assign(stored, field.sent(patch));
      return stored;
    }),
  );
  ctx.body = await showOne(em, filter);
}

async function remove(ctx: Context, deps: ApiDeps): Promise<void> {
  const id = param(ctx, 'id');
  await entityManager(ctx, deps).transactional(async (em) => {
    const filter = await findFilter(em, id, 'lock');
    await requireUnused(em, 'filterId', filter);
    em.remove(filter);
  });
  ctx.status = 204;
}

async function test(ctx: Context, deps: ApiDeps): Promise<void> {
  const id = param(ctx, 'id');
  const body = await parseBody(ctx, testSchema);
  const filter = await findFilter(entityManager(ctx, deps), id);
  ctx.body = tryOut(filter.conditions, filter.logic, body);
}

/** Tries conditions that are not stored. */
async function testConditions(ctx: Context): Promise<void> {
  const { conditions: given, logic: how, ...body } = await parseBody(ctx, testConditionsSchema);
  ctx.body = tryOut(given, how ?? 'AND', body);
}

function tryOut(given: FilterCondition[], how: FilterLogic, sample: z.output<typeof testSchema>) {
  const filter = compileFilter(given, how);
  const request = toRequest(sample);
  const met = filter.explain(request);
  return {
    matches: filter.takes(request),
    conditions: given.map(({ field: path, operator }, index) => ({ field: path, operator, matches: met[index] })),
  };
}

function toRequest(sample: z.output<typeof testSchema>): FilteredRequest {
  const headers = Object.entries(sample.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const query = new URLSearchParams(sample.query ?? '');
  return {
    method: (sample.method ?? 'POST').toUpperCase(),
    headers: Object.fromEntries(headers),
    query: () => query,
    payload: () => sample.payload,
  };
}

/** @throws ApiError 404 */
async function findFilter(em: EntityManager, id: string, lock?: 'lock'): Promise<Filter> {
  requireId('filter', 'flt', id);
  const filter = await em.findOne(Filter, { id }, lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {});
  if (!filter) throw notFound('filter', id);
  return filter;
}

async function showOne(em: EntityManager, filter: Filter) {
  const [shown] = await showAll(em, [filter]);
  return shown;
}

async function showAll(em: EntityManager, filters: Filter[]) {
  const ids = filters.map(({ id }) => id);
  const counts = await routeCounts(em, 'filterId', ids);
  return filters.map((filter) => ({
    id: filter.id,
    name: filter.name,
    slug: filter.slug,
    description: filter.description ?? null,
    conditions: filter.conditions,
    logic: filter.logic,
    routeCount: counts.get(filter.id),
    createdAt: isoTime(filter.createdAt),
    updatedAt: isoTime(filter.updatedAt),
  }));
}

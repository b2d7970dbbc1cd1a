// Filters: conditions that several routes share.
// Rules: FLT-02, FLT-12, FLT-13.
import { z } from 'zod';
import type { FilterCondition } from '../../core/filters/conditions.ts';
import type { FilteredRequest } from '../../core/filters/fields.ts';
import { compileFilter, type FilterLogic } from '../../core/filters/filter.ts';
import { Filter } from '../../db/entities.ts';
import type { ApiDeps, ApiRouter, Context } from '../context.ts';
import { parseBody } from '../validation.ts';
import { conditions, logic } from './filter-conditions.ts';
import { namedMembers, NamedRecords } from './named-records.ts';

const someConditions = conditions.min(1);
export const createSchema = z.object({ ...namedMembers, conditions: someConditions, logic: logic.optional() });
export const updateSchema = createSchema.partial();
export const testSchema = z.object({
  payload: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  query: z.union([z.record(z.string(), z.string()), z.string()]).optional(),
  method: z.string().max(20).optional(),
});
export const testConditionsSchema = testSchema.extend({ conditions, logic: logic.optional() });

const filters = new NamedRecords<Pick<Filter, 'conditions' | 'logic'>>({
  kind: 'filter',
  entity: Filter,
  prefix: 'flt',
  constraint: 'filters_slug_unique',
  usedAs: 'filterId',
  show: ({ conditions: stored, logic: how }) => ({ conditions: stored, logic: how }),
});

export function mountFilters(router: ApiRouter, deps: ApiDeps): void {
  const base = '/api/filters';
  filters.mount(router, deps, base, { create, update });
  router.post(`${base}/test`, (ctx) => testConditions(ctx));
  router.post(`${base}/:id/test`, (ctx) => test(ctx, deps));
}

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseBody(ctx, createSchema);
  await filters.create(ctx, deps, body, { conditions: body.conditions, logic: body.logic ?? 'AND' });
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  await filters.update(ctx, deps, await parseBody(ctx, updateSchema));
}

async function test(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseBody(ctx, testSchema);
  const filter = await filters.find(ctx, deps);
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

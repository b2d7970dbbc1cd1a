// The operations that resources have in common, with what is said of them: list, create, get, update, create or
// replace, delete.
import type { EntityName, FilterQuery } from '@mikro-orm/core';
import type { z } from 'zod';
import { type Context, entityManager } from '../request/context.ts';
import type { ErrorCodes, Operation, RequestBody, Tag } from '../request/operation.ts';
import { listAnswer, newestFirst } from '../request/query.ts';
import { parseQuery } from '../request/validation.ts';
import { type Find, tell } from './records.ts';
import { listOf } from './values.ts';

interface Step<Result> {
  run: (ctx: Context) => Promise<Result>;
  description?: string;
  errors?: ErrorCodes;
}

interface Write<Stored> extends Step<Stored> {
  body: RequestBody;
}

type Page = Parameters<typeof newestFirst>[0];

export interface Resource<Stored extends { version: number }, Query extends z.ZodObject> {
  tag: Tag;
  base: string;
  name: string;
  noun: string;
  answer: z.ZodType;
  entity: EntityName<Stored>;
  find: Find<Stored>;
  show: (ctx: Context, records: Stored[]) => Promise<object[]>;
  /** `where`: the condition of a query; `item`, `show`: of lists that do not show all. */
  list: {
    query: Query;
    where: (query: z.output<Query>) => object;
    item?: z.ZodType;
    show?: (ctx: Context, records: Stored[]) => Promise<object[]>;
  };
  /**
   * `shows`: what is said of the answer; `showNew`: what differs in it; `leadsTo`: operations of the record besides
   * these.
   */
  create: Write<Stored> & { shows?: string; showNew?: (record: Stored) => object; leadsTo?: string[] };
  update: Write<Stored>;
  put?: Write<Stored> & { by?: string };
  remove: Step<unknown>;
}

export function crudOperations<Stored extends { version: number }, Query extends z.ZodObject>(
  resource: Resource<Stored, Query>,
): Operation[] {
  const { tag, base, name, noun, answer, entity, find, show, list, create, update, put, remove } = resource;
  const common = { tag, idOf: find.prefixes };
  const one = oneOf(noun);
  const { shows = `The ${noun}.`, showNew, leadsTo = [], ...creating } = create;
  const now = { description: `The updated ${noun}.`, schema: answer };
  const answerOf = async (ctx: Context, record: Stored, isNew = false) => {
    const shown = await showOne(ctx, show, record);
    return isNew && showNew ? { ...shown, ...showNew(record) } : shown;
  };
  const operations: Operation[] = [
    {
      ...common,
      method: 'get',
      path: base,
      operationId: `list${name}s`,
      async run(ctx) {
        const query = parseQuery(ctx, list.query);
        const page = newestFirst(query as unknown as Page);
        const where = list.where(query) as FilterQuery<Stored>;
        const [records, total] = await entityManager(ctx).findAndCount(entity, where, page as object);
        return listAnswer(await (list.show ?? show)(ctx, records as Stored[]), total, query as unknown as Page);
      },
      summary: `List ${noun}s`,
      query: list.query,
      answer: { description: 'One page, newest first.', schema: listOf(list.item ?? answer) },
    },
    {
      ...common,
      ...creating,
      method: 'post',
      path: base,
      operationId: `create${name}`,
      versioned: true,
      run: async (ctx) => answerOf(ctx, await create.run(ctx), true),
      summary: `Create ${one}`,
      answer: {
        status: 201,
        description: shows,
        schema: answer,
        leadsTo: [`get${name}`, `update${name}`, ...leadsTo, `delete${name}`],
      },
    },
    {
      ...common,
      method: 'get',
      path: `${base}/{id}`,
      operationId: `get${name}`,
      versioned: true,
      run: async (ctx) => answerOf(ctx, await find.ofPath(ctx)),
      summary: `Get ${one}`,
      answer: { description: `The ${noun}.`, schema: answer },
    },
    {
      ...common,
      ...update,
      method: 'patch',
      path: `${base}/{id}`,
      operationId: `update${name}`,
      versioned: true,
      run: async (ctx) => answerOf(ctx, await update.run(ctx)),
      summary: `Update ${one}`,
      description: sentences('Omitted fields keep their values.', update.description),
      answer: now,
    },
    {
      ...common,
      ...remove,
      method: 'delete',
      path: `${base}/{id}`,
      operationId: `delete${name}`,
      versioned: true,
      run: (ctx) => remove.run(ctx).then(() => undefined),
      summary: `Delete ${one}`,
      answer: { status: 204, description: 'Deleted.' },
    },
  ];
  if (put === undefined) return operations;
  const { by = 'slug', ...putting } = put;
  operations.push({
    ...common,
    ...putting,
    method: 'put',
    path: `${base}/by-${by}/{${by}}`,
    operationId: `put${name}`,
    versioned: true,
    async run(ctx) {
      const record = await put.run(ctx);
      return answerOf(ctx, record, ctx.status === 201);
    },
    summary: `Create or replace a ${noun} by ${by}`,
    description: sentences('Replaces the entire record: omitted fields are reset to their defaults.', put.description),
    answer: { ...now, ofNew: shows },
  });
  return operations;
}

export async function showOne<Stored extends { version: number }>(
  ctx: Context,
  show: (ctx: Context, records: Stored[]) => Promise<object[]>,
  record: Stored,
): Promise<object | undefined> {
  tell(ctx, record);
  const [shown] = await show(ctx, [record]);
  return shown;
}

/** `a route`, `an HTTP destination` */
export const oneOf = (noun: string): string => `${/^[aeiou]|^HTTP/.test(noun) ? 'an' : 'a'} ${noun}`;

const sentences = (...all: (string | undefined)[]): string => all.filter((each) => each !== undefined).join(' ');

// Lists: `page` and `pageSize`, `cursor`, and the shape of every list answer.
// Rules: LIST-01 to LIST-05, LIST-08 to LIST-13.
import { z } from 'zod';
import { type IdPrefix, isId } from '../../core/text/ids.ts';
import type { Found, Part } from '../../db/history/lists/part.ts';
import type { AppContext } from './context.ts';
import { invalid } from './errors.ts';
import { booleanParam, textParam } from './query.ts';
import { isoTime } from '../resources/records.ts';

const MAX_PAGE_SIZE = 100;
const DEFAULT_PAGE_SIZE = 20;

const positive = (fallback: number) =>
  z
    .string({ error: 'must be given once' })
    .regex(/^0*[1-9]\d{0,14}$/, 'must be a whole number from 1 on')
    .transform(Number)
    .meta({ override: ({ jsonSchema }) => describeInteger(jsonSchema) })
    .default(fallback);

// Query values arrive as strings; the API description shows the number.
function describeInteger(jsonSchema: { type?: unknown; minimum?: number; pattern?: string }): void {
  delete jsonSchema.pattern;
  Object.assign(jsonSchema, { type: 'integer', minimum: 1 });
}

/** Members of a list's query schema. */
export const pageParams = {
  page: positive(1).meta({ description: 'Which page, from 1 on.', override: { default: 1 } }),
  pageSize: positive(DEFAULT_PAGE_SIZE)
    .transform((size) => Math.min(size, MAX_PAGE_SIZE))
    .meta({
      description: `Items on a page; more than ${MAX_PAGE_SIZE} are served as ${MAX_PAGE_SIZE}.`,
      override: { default: DEFAULT_PAGE_SIZE },
    }),
};

/** Where a list by cursor begins. */
export const FIRST = 'first';

/** Members of the query schema of a list that grows: by pages, or by cursor. */
export const partParams = {
  ...pageParams,
  page: positive(1).meta({
    description: 'Which page, from 1 on.',
    // Programs that send what is the default would send it beside a cursor, too.
    override: ({ jsonSchema }) => {
      delete jsonSchema.default;
    },
  }),
  cursor: textParam.meta({
    description: `\`${FIRST}\`, or the \`nextCursor\` of the answer before: what is new shifts nothing. Instead of \`page\`.`,
  }),
  withTotal: booleanParam.meta({ description: 'With `cursor`: whether to count too.' }),
};

export interface Page {
  page: number;
  pageSize: number;
}

/** Parsed `partParams`. */
export interface PartQuery extends Page {
  cursor?: string | undefined;
  withTotal?: boolean | undefined;
}

/**
 * The part of a list that a query asks for.
 * @param isCursor whether a text may be a cursor of the list: by default an id with this prefix
 * @throws ApiError 400
 */
export function partOf(ctx: AppContext, query: PartQuery, isCursor: IdPrefix | ((text: string) => boolean)): Part {
  const { cursor, withTotal, pageSize } = query;
  if (cursor === undefined) {
    if (withTotal !== undefined) throw invalid('withTotal', 'must not be given without cursor: a page has its total');
    return limitOf(query);
  }
  if (ctx.query.page !== undefined) throw invalid('page', 'must not be given together with cursor');
  const fits = typeof isCursor === 'function' ? isCursor(cursor) : isId(isCursor, cursor);
  if (cursor !== FIRST && !fits) {
    throw invalid('cursor', `must be ${FIRST}, or the nextCursor of an answer of this list`);
  }
  return { limit: pageSize, after: cursor === FIRST ? null : cursor, withTotal: withTotal ?? false };
}

/** The limit and offset of a page. */
export function limitOf({ page, pageSize }: Page): { limit: number; offset: number } {
  return { limit: pageSize, offset: Math.min((page - 1) * pageSize, Number.MAX_SAFE_INTEGER) };
}

/** A page of configuration records, newest first; stable across pages (LIST-05). */
export function newestFirst(page: Page) {
  const orderBy: { createdAt?: 'desc'; id?: 'desc' }[] = [{ createdAt: 'desc' }, { id: 'desc' }];
  return { ...limitOf(page), orderBy };
}

/** The answer with a part of a list. */
export function partAnswer<Item>(data: Item[], found: Omit<Found, 'ids'>, query: PartQuery) {
  const { total, totalIsExact, next, searchedUntil } = found;
  if (query.cursor === undefined) return listAnswer(data, total ?? 0, query, totalIsExact);
  const { pageSize } = query;
  const pagination = { pageSize, nextCursor: next, searchedUntil: isoTime(searchedUntil) };
  return { data, pagination: { ...pagination, ...(total !== null && { total, ...estimated(totalIsExact) }) } };
}

/** The answer of a list endpoint. */
export function listAnswer<Item>(data: Item[], total: number, { page, pageSize }: Page, totalIsExact = true) {
  return { data, pagination: { total, ...estimated(totalIsExact), page, pageSize } };
}

const estimated = (totalIsExact: boolean) => (totalIsExact ? {} : { totalIsExact });

// Query strings of lists: pages and cursors, booleans, times, search texts. Bodies with the same members use some of
// them too.
import { z } from 'zod';
import { withExample } from '../resources/values.ts';
import { type IdPrefix, isId } from '../../core/text/ids.ts';
import { parseIsoTime } from '../../core/text/timestamps.ts';
import type { Found, Part } from '../../db/sql/list-parts.ts';
import type { AppContext } from './context.ts';
import { invalid } from './errors.ts';
import { refused } from './validation.ts';

const once = z.string({
  error: ({ input }) => (Array.isArray(input) ? 'must be set only once' : 'must be a string'),
});

export const booleanParam = once
  .refine((text) => text === 'true' || text === 'false', 'must be true or false')
  .transform((text) => text === 'true')
  .meta({ override: { type: 'boolean' } })
  .optional();

/** An ISO 8601 time; the answer is a Date. */
export const timeParam = withExample(
  once.transform((text, context) => {
    const time = parseTime(text);
    if (time !== null) return time;
    return refused(context, undefined, 'must be an ISO 8601 date, or date and time, for example 2026-11-21T10:00:00Z');
  }),
  '2026-11-21T10:00:00Z',
  'An ISO 8601 date, or date and time. UTC unless it includes a time zone.',
).optional();

const boundedText = once.max(1000, 'must be at most 1000 characters long');

/** A text; empty counts as not given. */
export const textParam = boundedText.transform((given) => given || undefined).optional();

/**
 * A text in the body of a request that acts on what it selects: without the filter it would act on more than intended.
 */
export const textMember = boundedText.min(1, 'must not be empty; omit it instead').optional();

/** One of some words; empty counts as not given. */
export function choiceParam<const Choices extends readonly [string, ...string[]]>(choices: Choices) {
  return z.preprocess((value) => (value === '' ? undefined : value), z.enum(choices).optional());
}

/** Some of these words, with commas between them; empty counts as not given. */
export function choicesParam<const Choice extends string>(choices: readonly Choice[]) {
  const known = (word: string): word is Choice => (choices as readonly string[]).includes(word);
  const one = { type: 'string' as const, enum: [...choices] };
  return once
    .transform((text, context) => {
      const words = text.split(',');
      if (text === '') return undefined;
      if (words.every(known)) return [...new Set(words)];
      return refused(context, undefined, `must be one or more of ${choices.join(', ')}, separated by commas`);
    })
    .meta({ override: { type: undefined, anyOf: [one, { type: 'array', items: one }] } })
    .optional()
    .meta({ param: { style: 'form', explode: false } });
}

/** A whole number; empty counts as not given. */
export function integerParam(minimum: number, maximum: number) {
  return once
    .transform((text, context) => {
      const value = Number(text);
      if (text === '') return undefined;
      if (/^\d{1,9}$/.test(text) && value >= minimum && value <= maximum) return value;
      return refused(context, undefined, `must be a whole number from ${minimum} to ${maximum}`);
    })
    .meta({ override: { type: 'integer', minimum, maximum } })
    .optional();
}

/** Parses an ISO 8601 time, from 1970 on; a time without a zone is UTC. */
export function parseTime(text: string): Date | null {
  // A plus sign that was not percent-encoded arrives as a space.
  const ms = parseIsoTime(text.replace(/(:\d{2}(?:[.,]\d+)?) (\d{2}(?::?\d{2})?)$/, '$1+$2'));
  return ms === null || ms < 0 ? null : new Date(ms);
}

export function containsPattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

const MAX_PAGE_SIZE = 100;
const DEFAULT_PAGE_SIZE = 20;

const positive = (fallback: number) =>
  z
    .string({ error: 'must be set only once' })
    .regex(/^0*[1-9]\d{0,14}$/, 'must be a whole number of at least 1')
    .transform(Number)
    .meta({ override: ({ jsonSchema }) => describeInteger(jsonSchema) })
    .default(fallback);

// Query values arrive as strings; the API description shows the number.
function describeInteger(jsonSchema: { type?: unknown; minimum?: number; pattern?: string }): void {
  delete jsonSchema.pattern;
  Object.assign(jsonSchema, { type: 'integer', minimum: 1 });
}

export const pageParams = {
  page: positive(1).meta({ description: 'Page number, starting at 1.', override: { default: 1 } }),
  pageSize: positive(DEFAULT_PAGE_SIZE)
    .transform((size) => Math.min(size, MAX_PAGE_SIZE))
    .meta({
      description: `Items per page. Values above ${MAX_PAGE_SIZE} are treated as ${MAX_PAGE_SIZE}.`,
      override: { default: DEFAULT_PAGE_SIZE },
    }),
};

export const FIRST = 'first';

export const partParams = {
  ...pageParams,
  page: positive(1).meta({
    description: 'Page number, starting at 1.',
    // Programs that send what is the default would send it beside a cursor, too.
    override: ({ jsonSchema }) => {
      delete jsonSchema.default;
    },
  }),
  cursor: textParam.describe(
    `\`${FIRST}\`, or the previous page's \`nextCursor\`. Unlike with \`page\`, new items do not shift the pages.`,
  ),
  withTotal: booleanParam.describe('Whether to also count the items. Requires `cursor`.'),
};

interface Page {
  page: number;
  pageSize: number;
}

interface PartQuery extends Page {
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
    if (withTotal !== undefined)
      throw invalid('withTotal', 'requires cursor; without it, the response always includes the total');
    return limitOf(query);
  }
  if (ctx.query.page !== undefined) throw invalid('page', 'cannot be combined with cursor');
  const fits = typeof isCursor === 'function' ? isCursor(cursor) : isId(isCursor, cursor);
  if (cursor !== FIRST && !fits) throw invalid('cursor', `must be "${FIRST}" or a nextCursor from this list`);
  return { limit: pageSize, after: cursor === FIRST ? null : cursor, withTotal: withTotal ?? false };
}

export function limitOf({ page, pageSize }: Page): { limit: number; offset: number } {
  return { limit: pageSize, offset: Math.min((page - 1) * pageSize, Number.MAX_SAFE_INTEGER) };
}

export function newestFirst(page: Page) {
  const orderBy: { createdAt?: 'desc'; id?: 'desc' }[] = [{ createdAt: 'desc' }, { id: 'desc' }];
  return { ...limitOf(page), orderBy };
}

export function partAnswer<Item>(data: Item[], found: Omit<Found, 'ids'>, query: PartQuery) {
  const { total, totalIsExact, next, searchedUntil } = found;
  if (query.cursor === undefined) return listAnswer(data, total ?? 0, query, totalIsExact);
  const { pageSize } = query;
  const pagination = { pageSize, nextCursor: next, searchedUntil };
  return { data, pagination: { ...pagination, ...(total !== null && { total, ...estimated(totalIsExact) }) } };
}

export function listAnswer<Item>(data: Item[], total: number, { page, pageSize }: Page, totalIsExact = true) {
  return { data, pagination: { total, ...estimated(totalIsExact), page, pageSize } };
}

const estimated = (totalIsExact: boolean) => (totalIsExact ? {} : { totalIsExact });

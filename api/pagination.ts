// Lists: `page` and `pageSize`, and the shape of every list answer.
// Rules: LIST-01 to LIST-05.
import { z } from 'zod';

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

export interface Page {
  page: number;
  pageSize: number;
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

/** The answer of a list endpoint. */
export function listAnswer<Item>(data: Item[], total: number, { page, pageSize }: Page) {
  return { data, pagination: { total, page, pageSize } };
}

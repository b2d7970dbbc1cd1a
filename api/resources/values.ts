// Types of members that many answers share: ids, times, pages, records by their name.
import { z } from 'zod';

export const withExample = <Type extends z.ZodType>(type: Type, example: unknown, description?: string): Type =>
  type.meta({ ...(description !== undefined && { description }), examples: [example] });

export const component = <Shape extends z.core.$ZodLooseShape>(id: string, shape: Shape, description?: string) =>
  z.object(shape).meta({ id, ...(description !== undefined && { description }) });

/** Stands for credentials that an export file does not hold. */
export const REDACTED = '***REDACTED***';

const EXAMPLE_ID = '06f3k2v8q0e7x1c5b9m4n6p8qr';
export const exampleId = (prefix: string) => `${prefix}_${EXAMPLE_ID}`;
// Crockford's base32 without i, l, o and u (core/text/ids.ts).
const idPattern = (prefixes: readonly string[]) => new RegExp(`^(${prefixes.join('|')})_[0-9a-hjkmnp-tv-z]{26}$`);

export function idOf(...prefixes: string[]) {
  return withExample(z.string().regex(idPattern(prefixes)), exampleId(prefixes[0] ?? ''));
}

export const timestamp = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  .meta({
    id: 'Timestamp',
    description: 'ISO 8601 in UTC, with milliseconds.',
    format: 'date-time',
    examples: ['2026-11-21T10:00:00.000Z'],
  });

export const count = withExample(z.int().min(0), 12);
/** ms */
export const latency = withExample(z.int().min(0), 84, 'In milliseconds.');
export const percent = withExample(z.number().min(0).max(100), 99.5, 'As a percentage.');
export const text = (example: string, description?: string) => withExample(z.string(), example, description);
export const flag = (example: boolean, description?: string) => withExample(z.boolean(), example, description);

export const version = withExample(z.int().min(1), 1, 'Increases with every change.');

export const named = (prefix: string, example: string, ...others: string[]) =>
  z.object({ id: idOf(prefix, ...others), name: text(example) });

const totalIsExact = withExample(
  z.literal(false).optional(),
  false,
  'False if `total` is an estimate because more than 100,000 items match. Omitted otherwise.',
);

const pagination = component('Pagination', {
  total: withExample(count, 1, 'The total number of items.'),
  totalIsExact,
  page: withExample(z.int().min(1), 1),
  pageSize: withExample(z.int().min(1).max(100), 20),
});

export function listOf(item: z.ZodType) {
  return z.object({ data: z.array(item), pagination });
}

const cursorPagination = component('CursorPagination', {
  pageSize: withExample(z.int().min(1).max(100), 20),
  nextCursor: text(
    'dlv_06f3k2v8q0e7x1c5b9m4n6p8qr',
    'The value of `cursor` for the next page. Null if this is the last page.',
  ).nullable(),
  searchedUntil: withExample(
    timestamp.nullable(),
    null,
    'How far back the search got before it ran out of time. The page may be short or empty; use `nextCursor` to continue. Null if the search finished.',
  ),
  total: withExample(count.optional(), 1, 'The total number of items. Present only if requested.'),
  totalIsExact,
});

export function partOfList(item: z.ZodType) {
  return z.union([listOf(item), z.object({ data: z.array(item), pagination: cursorPagination })]);
}

export const headers = withExample(z.record(z.string(), z.string()), { 'content-type': 'application/json' });

export const exampleSample = { payload: { kind: 'order.paid', order: { id: 42 } }, headers: { 'x-shop': 'main' } };

export const warnings = withExample(
  z.array(z.string()),
  [],
  'Settings that should be changed, such as a secret that is too short or a URL that deliveries cannot connect to.',
);

// Types of members that many answers share: ids, times, pages, records by their name.
import { z } from 'zod';

/** Stands for credentials that an export file does not hold. */
export const REDACTED = '***REDACTED***';

/** The end of an id in examples. */
const EXAMPLE_ID = '06f3k2v8q0e7x1c5b9m4n6p8qr';
export const exampleId = (prefix: string) => `${prefix}_${EXAMPLE_ID}`;
// Crockford's base32 without i, l, o and u (core/text/ids.ts).
const idPattern = (prefixes: readonly string[]) => new RegExp(`^(${prefixes.join('|')})_[0-9a-hjkmnp-tv-z]{26}$`);

/** An id with one of these prefixes. */
export function idOf(...prefixes: string[]) {
  return z
    .string()
    .regex(idPattern(prefixes))
    .meta({ examples: [exampleId(prefixes[0] ?? '')] });
}

/** A time as answers show it. */
export const timestamp = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  .meta({
    id: 'Timestamp',
    description: 'ISO 8601, UTC, with milliseconds.',
    format: 'date-time',
    examples: ['2026-11-21T10:00:00.000Z'],
  });

export const count = z
  .int()
  .min(0)
  .meta({ examples: [12] });
/** ms */
export const latency = z
  .int()
  .min(0)
  .meta({ description: 'ms', examples: [84] });
export const percent = z
  .number()
  .min(0)
  .max(100)
  .meta({ description: 'percent', examples: [99.5] });
export const text = (example: string, description?: string) =>
  z.string().meta({ examples: [example], ...(description !== undefined && { description }) });
export const flag = (example: boolean, description?: string) =>
  z.boolean().meta({ examples: [example], ...(description !== undefined && { description }) });

/** Of a record that is read through caches. */
export const version = z
  .int()
  .min(1)
  .meta({ description: 'Grows with every change.', examples: [1] });

/** Statistics of recent deliveries (HOOKYARD_HEALTH_WINDOW_HOURS). */
export const recentTotals = {
  successRate: percent.nullable().meta({ description: 'percent; null without a recent delivery' }),
  avgLatency: latency.nullable().meta({ description: 'ms; null without a recent attempt that was answered' }),
  deliveriesCount: count,
};

/** Another record by its id and name. */
export const named = (prefix: string, example: string, ...others: string[]) =>
  z.object({ id: idOf(prefix, ...others), name: text(example) });

const totalIsExact = z
  .literal(false)
  .optional()
  .meta({
    description: 'False if `total` is an estimate, because more than 100,000 rows would have to be read. Else missing.',
    examples: [false],
  });

const pagination = z
  .object({
    total: count.meta({ description: 'Items on all pages.', examples: [1] }),
    totalIsExact,
    page: z
      .int()
      .min(1)
      .meta({ examples: [1] }),
    pageSize: z
      .int()
      .min(1)
      .max(100)
      .meta({ examples: [20] }),
  })
  .meta({ id: 'Pagination' });

/** The answer of a list. */
export function listOf(item: z.ZodType) {
  return z.object({ data: z.array(item), pagination });
}

const cursorPagination = z
  .object({
    pageSize: z
      .int()
      .min(1)
      .max(100)
      .meta({ examples: [20] }),
    nextCursor: text(
      'dlv_06f3k2v8q0e7x1c5b9m4n6p8qr',
      'What `cursor` continues with; null at the end, and only there.',
    ).nullable(),
    searchedUntil: timestamp.nullable().meta({
      description:
        'A search was cut by time, so there may be fewer items than `pageSize`, or none: all since then was looked at, and `nextCursor` continues. Else null.',
      examples: [null],
    }),
    total: count.optional().meta({ description: 'Items in all. Only when asked for.', examples: [1] }),
    totalIsExact,
  })
  .meta({ id: 'CursorPagination' });

/** The answer of a list that may be asked by page or by cursor. */
export function partOfList(item: z.ZodType) {
  return z.union([listOf(item), z.object({ data: z.array(item), pagination: cursorPagination })]);
}

/** Header names and values. */
export const headers = z.record(z.string(), z.string()).meta({ examples: [{ 'content-type': 'application/json' }] });

/** An example webhook for the test endpoints of filters and transforms. */
export const exampleSample = { payload: { kind: 'order.paid', order: { id: 42 } }, headers: { 'x-shop': 'main' } };

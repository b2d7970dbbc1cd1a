// Members that many answers share: ids, times, pages, records by their name; and what all parameters of paths are.
import { z } from 'zod';

const EXAMPLE_ID = '06f3k2v8q0e7x1c5b9m4n6p8qr';
const exampleId = (prefix: string) => `${prefix}_${EXAMPLE_ID}`;
// Crockford's base32 without i, l, o and u (core/ids.ts).
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

/** Times of creation and of the last change. */
export const stamps = { createdAt: timestamp, updatedAt: timestamp };

/** What deliveries of the last time were like (HOOKYARD_HEALTH_WINDOW_HOURS). */
export const recentTotals = {
  successRate: percent.nullable().meta({ description: 'percent; null without a recent delivery' }),
  avgLatency: latency.nullable().meta({ description: 'ms; null without a recent attempt that was answered' }),
  deliveriesCount: count,
};

/** Another record by its id and name. */
export const named = (prefix: string, example: string, ...others: string[]) =>
  z.object({ id: idOf(prefix, ...others), name: text(example) });

const pagination = z
  .object({
    total: count.meta({ description: 'Items on all pages.', examples: [1] }),
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

/** Header names and values. */
export const headers = z.record(z.string(), z.string()).meta({ examples: [{ 'content-type': 'application/json' }] });

/** The id under which the log knows the request. */
export const requestId = text(
  exampleId('req'),
  'The id under which the log knows the request: the one it came with, or a new one.',
).meta({ header: { id: 'RequestId' } });

/** Lets a POST be repeated without being done twice. */
export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/)
  .optional()
  .meta({
    description: 'A repeat within 24 hours, with the same key and body, gets the answer of the first request.',
    examples: ['3f0c1b1e-8a53-4c0f-9f0e-5d1a2b3c4d5e'],
    param: { in: 'header', name: 'Idempotency-Key', id: 'IdempotencyKey' },
  });
export const idempotentReplayed = z
  .literal('true')
  .optional()
  .meta({
    description: 'This is the answer of the first request with this `Idempotency-Key`.',
    header: { id: 'IdempotentReplayed' },
  });

export const ignoredNames = z
  .string()
  .optional()
  .meta({
    description:
      'Which query parameters and members of the body were ignored because nothing of their name is known here, as a list of ' +
      'RFC 9651: the dotted name, `in` which it was, and the known name that is `nearest`, if any. Names are percent-encoded ' +
      'where they are not plain ASCII. At most 8 are named; `more;count=` is how many others there were.',
    examples: ['"destnationId";in=query;nearest="destinationId"'],
    header: { id: 'Ignored' },
  });

const orgId = text(exampleId('org'), 'The organization of the key; `GET /api/auth/me` tells it.').meta({
  param: { in: 'path', name: 'orgId', id: 'OrganizationId' },
});

/** A parameter of a path. @param prefixes of an `id` */
export function pathParameter(name: string, prefixes: readonly string[]): z.ZodType {
  if (name === 'orgId') return orgId;
  if (name !== 'id') return text(name === 'orgSlug' ? 'default' : 'orders').meta({ param: { in: 'path', name } });
  if (prefixes.length === 0) throw new Error('an operation with {id} must say what the id is of');
  return idOf(...prefixes).meta({ param: { in: 'path', name } });
}

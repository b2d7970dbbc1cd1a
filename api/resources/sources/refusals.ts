import { z } from 'zod';
import { LIMIT_NAMES } from '../../../core/fairness/organization-limits.ts';
import { METHODS } from '../../../core/delivery/delivery.ts';
import { KEPT_PAYLOAD_BYTES, KEPT_REFUSALS, REFUSAL_CAUSES } from '../../../core/ingest/refusals.ts';
import { readRefusals, type RefusalCountRecord, type RefusalRecord } from '../../../db/history/refusals.ts';
import { organizationId } from '../../request/context.ts';
import { component, count, headers, idOf, listOf, text, timestamp, withExample } from '../values.ts';
import { operation } from '../../request/operation.ts';
import { booleanParam, choiceParam, limitOf, listAnswer, pageParams } from '../../request/query.ts';
import { findSource } from '../records.ts';
import { requireScope } from '../../auth/scopes.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How many hours or days of UTC, with the current one. */
const PERIODS = {
  '24h': { step: 'hour', stepMs: HOUR_MS, steps: 24 },
  '7d': { step: 'day', stepMs: DAY_MS, steps: 7 },
  '30d': { step: 'day', stepMs: DAY_MS, steps: 30 },
} as const;
const PERIOD_NAMES = ['24h', '7d', '30d'] as const;

const cause = withExample(z.enum(REFUSAL_CAUSES), 'signature');
const limit = withExample(
  z.enum(LIMIT_NAMES).nullable(),
  null,
  'The organization limit that was exceeded. Null if none.',
);

const refusal = component('Refusal', {
  id: idOf('ref'),
  refusedAt: timestamp,
  cause,
  limit,
  status: withExample(z.int(), 401, 'The status code of the response.'),
  message: text('The X-Hub-Signature-256 header is missing; nothing was stored', "The response's message."),
  method: z.enum(METHODS),
  clientAddress: text('192.0.2.1', "The sender's IP address, as reported by any trusted proxies."),
  headers: headers.describe('The request headers, up to 4 KiB. Secrets are masked and long values truncated.'),
  payloadSize: withExample(count.nullable(), 27, 'The payload size, in bytes. Null if unknown.'),
  payloadStart: withExample(
    z.string().nullable().optional(),
    '{"kind":"order.paid"}',
    `The first ${KEPT_PAYLOAD_BYTES} bytes of the payload. Null if the webhook was refused before its body was read. Present only if requested.`,
  ),
  payloadEncoding: z.literal('base64').optional().describe('Present only if the payload is not text.'),
});

const counts = component('RefusalCounts', {
  period: withExample(z.enum(PERIOD_NAMES), '24h'),
  since: timestamp,
  total: count,
  causes: z
    .array(z.object({ cause, limit, count, lastAt: timestamp }))
    .describe('Counts by cause, most frequent first.'),
  steps: z
    .array(z.object({ start: timestamp, cause, limit, count }))
    .describe('Counts by hour, or by day (UTC) for longer periods, oldest first. Empty intervals are omitted.'),
});

export const refusalOperation = operation('listRefusals', 'get', '/api/organizations/{orgId}/sources/{id}/refusals', {
  tag: 'Sources',
  idOf: findSource.prefixes,
  // They are webhooks that came, though they did not become events.
  scope: 'events:read',
  summary: 'List refused webhooks',
  description:
    `Shows why webhooks to the source were refused. All refused webhooks are counted, and up to ${KEPT_REFUSALS} recent ones are kept as samples. ` +
    'Counts and samples lag by a few seconds.',
  query: z.object({
    ...pageParams,
    cause: choiceParam(REFUSAL_CAUSES),
    period: choiceParam(PERIOD_NAMES).describe('The period of the counts. Defaults to `24h`.'),
    includePayload: booleanParam.describe(
      'Whether to include the start of each payload. Requires the `payloads:read` scope.',
    ),
  }),
  answer: {
    description: 'One page, newest first, and the counts.',
    schema: listOf(refusal).extend({ counts }),
  },
  async run(ctx, { query }) {
    const { includePayload: withPayload = false, period = '24h' } = query;
    if (withPayload) requireScope(ctx, 'payloads:read', 'includePayload=true');
    const source = await findSource.ofPath(ctx);
    const key = { organizationId: organizationId(ctx), sourceId: source.id };
    const { step, stepMs, steps } = PERIODS[period];
    const since = new Date((Math.floor(Date.now() / stepMs) - steps + 1) * stepMs);
    const wanted = { cause: query.cause, withPayload, step, since };
    const { refusals, total, counts: counted } = await readRefusals(ctx.deps.pool, key, wanted, limitOf(query));
    return {
      ...listAnswer(
        refusals.map((each) => ({ ...show(each), ...(withPayload && showStart(each)) })),
        total,
        query,
      ),
      counts: { period, since, ...summed(counted) },
    };
  },
});

function show({ id, at, payloadStart: _start, ...others }: RefusalRecord) {
  return { id, refusedAt: at, ...others };
}

/** The beginning of the payload as text, when it is text: a character at its end may be cut. */
function showStart({ payloadStart: bytes, payloadSize }: RefusalRecord) {
  if (bytes === null) return { payloadStart: null };
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return { payloadStart: decoder.decode(bytes, { stream: payloadSize !== bytes.length }) };
  } catch {
    return { payloadStart: bytes.toString('base64'), payloadEncoding: 'base64' };
  }
}

function summed(counted: RefusalCountRecord[]) {
  const causes = new Map<string, Omit<RefusalCountRecord, 'start'>>();
  for (const { start: _start, ...each } of counted) {
    const key = `${each.cause} ${each.limit}`;
    const before = causes.get(key);
    // The steps are in the order of time, so the last one has the last time.
    causes.set(key, { ...each, count: each.count + (before?.count ?? 0) });
  }
  return {
    total: counted.reduce((sum, each) => sum + each.count, 0),
    causes: [...causes.values()].toSorted((one, other) => other.count - one.count),
    steps: counted.map(({ lastAt: _last, ...each }) => each),
  };
}

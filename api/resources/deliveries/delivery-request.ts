// The request of an attempt as it was or will be sent, and why it may have been another one.
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { deliveryUrl } from '../../../core/delivery/delivery-url.ts';
import { isId } from '../../../core/text/ids.ts';
import {
  loadDestination,
  loadEarlierTarget,
  loadRoute,
  loadTransform,
  type OpenDestination,
  openSecrets,
  type TransformConfig,
} from '../../../db/hot-path/attempt-config.ts';
import { type AttemptContext, loadAttempts, receivedAddress } from '../../../db/hot-path/load-attempts.ts';
import {
  type AttemptRecord,
  attemptsOf,
  type DeliveryRecord,
  destinationVersion,
  type RecordVersion,
} from '../../../db/history/deliveries.ts';
import { buildOutboundRequest } from '../../../outbound/http/outbound-request.ts';
import { type EventContent, type EventFacts, transformContent } from '../../../outbound/transforms/content.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { allows } from '../../../core/config/plans-and-scopes.ts';
import { isOpenStatus } from '../../../core/delivery/delivery.ts';
import { type ApiDeps, callerOf, type Context, organizationId } from '../../request/context.ts';
import { inThreads } from '../../request/threads.ts';
import { requireScope } from '../../auth/scopes.ts';
import { invalid } from '../../request/errors.ts';
import { operation } from '../../request/operation.ts';
import { booleanParam } from '../../request/query.ts';
import { bounded } from '../events/events.ts';
import { component, count, headers, idOf, text, timestamp, withExample } from '../values.ts';
import { deliveryRecords } from './deliveries.ts';

// The request of an attempt, made again of the event, the destination as it is now, and the transform in the version of
// the delivery: transforms are functions of the event, so the same records make the same request. The workers' code
// does it (outbound/), in the threads and budgets of the API.

/** Why there is no request to show. */
const PROBLEMS = {
  WAREHOUSE: 'The destination is a warehouse: events are written to files, not sent in requests',
  DESTINATION_DELETED: 'The destination was deleted',
  EVENT_DELETED: 'The event was deleted',
  PAYLOAD_EXPIRED: "The event's payload was removed by the retention policy",
  TRANSFORM_DELETED: 'The version of the route and transform that the delivery used is no longer stored',
  TRANSFORM_FAILED: "The route's transform fails",
  CANNOT_BE_MADE: 'The request cannot be built for the current destination',
} as const;
type ProblemCode = keyof typeof PROBLEMS;

interface Problem {
  code: ProblemCode;
  message: string;
}

export const problem = (code: ProblemCode, message: string = PROBLEMS[code]) => ({ problem: { code, message } });

type Sent = Pick<
  AttemptContext,
  'deliveryId' | 'eventId' | 'eventPath' | 'eventQuery' | 'traceparent' | 'originalDestinationId' | 'failoverReason'
> &
  Partial<Pick<AttemptContext, 'orderKey' | 'orderNumber'>>;

interface Recomputed {
  destination: OpenDestination;
  content: EventContent;
  context: Sent;
  sourceSlug: string;
}

/**
 * What the request of a delivery is made of.
 * @param asReplay by the route and its transform as they are now, if it is there
 * @throws ApiError 429, 503 when the transform cannot be run now
 */
async function recompute(
  ctx: Context,
  { id: deliveryId, eventId, destinationId }: DeliveryRecord,
  asReplay: boolean,
): Promise<Recomputed | { problem: Problem }> {
  if (isId('dst_wh', destinationId)) return problem('WAREHOUSE');
  const row = await loadDestination(ctx.deps.pool, organizationId(ctx), destinationId);
  if (row === null) return problem('DESTINATION_DELETED');
  const context = (await loadAttempts(ctx.deps.pool, [{ deliveryId, eventId }], { asTenant: true })).get(deliveryId);
  if (!context || context.eventHeaders === null || context.sourceSlug === null) return problem('EVENT_DELETED');
  if (context.body === null) return problem('PAYLOAD_EXPIRED');
  const transform = await transformOf(ctx.deps, context, asReplay);
  if (transform === undefined) return problem('TRANSFORM_DELETED');
  const { sourceSlug, eventHeaders: headers, body } = context;
  const content = await contentOf(ctx, transform, context, { sourceSlug, headers, body });
  if ('problem' in content) return content;
  return { destination: openSecrets(row, ctx.deps.secretBox), content, context, sourceSlug };
}

/** Null: none; undefined: it is not kept any more. */
async function transformOf(
  { pool }: ApiDeps,
  { organizationId, routeId, routeVersion, currentRouteVersion, transformVersion }: AttemptContext,
  asReplay: boolean,
): Promise<TransformConfig | null | undefined> {
  if (routeId === null) return null;
  const isCurrent = asReplay && currentRouteVersion !== null;
  const version = isCurrent ? currentRouteVersion : routeVersion;
  const route = version === null ? null : await loadRoute(pool, organizationId, routeId, version);
  if (route === null) return undefined;
  if (route.transformId === null) return null;
  if (!isCurrent && transformVersion === null) return undefined;
  return (
    (await loadTransform(pool, organizationId, route.transformId, isCurrent ? null : transformVersion)) ?? undefined
  );
}

export async function contentOf(
  ctx: Context,
  transform: TransformConfig | null,
  context: EventFacts,
  received: EventContent & { sourceSlug: string },
): Promise<EventContent | { problem: Problem }> {
  if (transform === null) return received;
  const content = await inThreads(() =>
    transformContent(ctx.deps.threads, transform, context, received, organizationId(ctx)),
  );
  return 'problem' in content ? problem('TRANSFORM_FAILED', content.problem.detail) : content;
}

/** The request as it is shown. @param kept the headers as they were sent, if they are known */
export function shownRequest(
  ctx: Context,
  made: Recomputed,
  { attempt, at, kept = null }: { attempt: number; at: Date; kept?: Record<string, string> | null },
) {
  const { destination, content, context } = made;
  const sent = kept ? { headers: kept } : maskedHeaders(ctx.deps.settings, made, attempt, at);
  if ('problem' in sent) return sent;
  const url = shownUrl(ctx, deliveryUrl(destination, receivedAddress(context)));
  return { request: { method: destination.method, url, headers: sent.headers, bodySize: content.body.length } };
}

function maskedHeaders(
  settings: ApiDeps['settings'],
  { destination, content, context, sourceSlug }: Recomputed,
  attempt: number,
  at: Date,
): { headers: Record<string, string> } | { problem: Problem } {
  const { originalDestinationId, failoverReason, orderKey, orderNumber } = context;
  try {
    const request = buildOutboundRequest({
      destination,
      event: { id: context.eventId, address: receivedAddress(context), ...content },
      delivery: { id: context.deliveryId },
      attempt,
      source: { slug: sourceSlug },
      headerPrefix: settings.HOOKYARD_HEADER_PREFIX,
      version: packageJson.version,
      // Where the attempt is recorded, its span takes its place.
      eventTraceparent: context.traceparent,
      nowMs: at.getTime(),
      ...(originalDestinationId !== null && {
        failover: { originalDestination: originalDestinationId, failureReason: failoverReason ?? '' },
      }),
      ...(orderKey && orderNumber && { order: { key: orderKey, number: orderNumber } }),
    });
    return { headers: request.maskedHeaders };
  } catch (error) {
    return problem('CANNOT_BE_MADE', `${PROBLEMS.CANNOT_BE_MADE}: ${error instanceof Error ? error.message : error}`);
  }
}

const DOUBTS = {
  DESTINATION_CHANGED: 'The destination was changed after this attempt; its method and URL may have been different',
  HEADERS_NOT_KEPT: "This attempt's headers were not stored; these headers are built from the current destination",
  SIGNED_LATER: 'The signature and its timestamp are generated when the request is sent',
  DESTINATION_DISABLED: 'The destination is disabled; unless you enable it, the delivery will be skipped',
} as const;
type DoubtCode = keyof typeof DOUBTS;

const doubt = (code: DoubtCode, record: RecordVersion | null = null) => ({
  code,
  message: DOUBTS[code],
  changedAt: record?.updatedAt ?? null,
});

// An attempt that was recorded from a summary has no version, so times decide: those of two processes, and the attempt
// loaded the records some time before it started.
const MARGIN_MS = 60_000;

/** Whether the destination was changed since the attempt. The route and its transform are those of the delivery. */
function changesSince(attempt: AttemptRecord | undefined, now: RecordVersion | null) {
  if (now === null) return [];
  const version = attempt?.exchange?.destinationVersion ?? null;
  const isOther =
    version === null
      ? attempt === undefined || now.updatedAt.getTime() > attempt.startedAt.getTime() - MARGIN_MS
      : version !== now.version;
  return isOther ? [doubt('DESTINATION_CHANGED', now)] : [];
}

// Each takes memory for a payload, what a transform makes of it, and the text of both.
const MAX_AT_ONCE = 8;
const MASKED = '••••';

const querySchema = z.object({
  attempt: z
    .string({ error: 'must be set only once' })
    .regex(/^[1-9]\d{0,5}$/, 'must be a whole number of at least 1')
    .transform(Number)
    .meta({
      description:
        'The attempt number, starting at 1. The number of the next attempt is also valid. Defaults to the latest attempt, or 1 if there is none.',
      override: { type: 'integer', minimum: 1 },
      examples: ['1'],
    })
    .optional(),
  includeBody: booleanParam.describe(
    'Whether to include the body. Defaults to true, which requires the `payloads:read` scope.',
  ),
});

export const problemAnswer = withExample(
  z
    .object({
      code: z.enum(Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]),
      message: text(PROBLEMS.PAYLOAD_EXPIRED),
    })
    .nullable(),
  null,
  'Why there is no request.',
);

export const requestMembers = {
  method: text('POST'),
  url: text(
    'https://crm.example.com/hooks',
    'The request URL. API keys that cannot read destinations see only the origin.',
  ),
  headers: headers.describe(
    'Secrets are masked. `Host`, `Content-Length` and `Connection` are added when the request is sent.',
  ),
  bodySize: withExample(count, 27, 'In bytes.'),
};

const requestAnswer = component('DeliveryRequest', {
  deliveryId: idOf('dlv'),
  attemptNumber: withExample(count, 1),
  state: z
    .enum(['made', 'next', 'never'])
    .describe(
      'Whether the attempt was made, is the next one, or was never made because the delivery ended first (`request` then shows what a replay would send).',
    ),
  request: z
    .object({
      ...requestMembers,
      body: text('{"kind":"order.paid"}', 'The body: text if UTF-8, otherwise base64.').optional(),
      bodyEncoding: z.literal('base64').optional().describe('Present only if the body is not text.'),
    })
    .nullable()
    .describe('Null if there is a `problem`.'),
  problem: problemAnswer,
  doubts: z
    .array(
      z.object({
        code: z.enum(Object.keys(DOUBTS) as [DoubtCode, ...DoubtCode[]]),
        message: text(DOUBTS.DESTINATION_CHANGED),
        changedAt: timestamp
          .nullable()
          .describe('When the destination was last updated. Null unless `code` starts with `DESTINATION_`.'),
      }),
    )
    .describe('Why the actual request may differ.'),
});

export const deliveryRequestOperation = operation('getDeliveryRequest', 'get', '/api/deliveries/{id}/request', {
  tag: 'Deliveries',
  of: deliveryRecords,
  summary: "Get a delivery's request",
  description:
    "The request is built from the event, the current destination and the transform version that the delivery used, with the attempt's method and URL.",
  query: querySchema,
  answer: { description: 'The request, or why there is no request.', schema: requestAnswer },
  async run(ctx, { query: { attempt, includeBody = true }, record: delivery }) {
    if (includeBody) requireScope(ctx, 'payloads:read', 'the request body (omit it with includeBody=false)');
    const asked = await askedAttempt(ctx.deps, delivery, attempt);
    return rendering(organizationId(ctx), 'Other delivery requests are being built', () =>
      show(ctx, delivery, { ...asked, includeBody }),
    );
  },
});

export const rendering = bounded(MAX_AT_ONCE);

interface Asked {
  attemptNumber: number;
  state: 'made' | 'next' | 'never';
  /** Undefined: not made, or not kept. */
  recorded: AttemptRecord | undefined;
}

/** @throws ApiError 400 when there is no such attempt, and will be none */
async function askedAttempt(
  deps: ApiDeps,
  { id, status, attemptCount }: DeliveryRecord,
  asked: number | undefined,
): Promise<Asked> {
  const attempts = await attemptsOf(deps.pool, id);
  // One that ended after its delivery had been cancelled is kept, and not counted.
  const made = Math.max(attemptCount, attempts.at(-1)?.attemptNumber ?? 0);
  const attempt = asked ?? Math.max(1, made);
  const last = isOpenStatus(status) ? made + 1 : Math.max(1, made);
  if (attempt > last) throw invalid('attempt', `must be at most ${last} for this delivery`);
  if (attempt > made)
    return { attemptNumber: attempt, state: isOpenStatus(status) ? 'next' : 'never', recorded: undefined };
  const recorded = attempts.find(({ attemptNumber }) => attemptNumber === attempt);
  return { attemptNumber: attempt, state: 'made', recorded };
}

async function show(
  ctx: Context,
  delivery: DeliveryRecord,
  { attemptNumber, state, recorded, includeBody }: Asked & { includeBody: boolean },
) {
  const current = await recompute(ctx, delivery, state === 'never');
  // Read after what made the request: what changes in between is rather told once too often than not at all.
  const now = await destinationVersion(ctx.deps.pool, organizationId(ctx), delivery.destinationId);
  const changes = state === 'made' ? changesSince(recorded, now) : [];
  const version = recorded?.exchange?.destinationVersion ?? null;
  const earlier =
    changes.length > 0 && version !== null
      ? await loadEarlierTarget(ctx.deps.pool, [organizationId(ctx), delivery.destinationId, version])
      : null;
  const doubts = earlier === null ? changes : [];
  const answer = (outcome: { request: object } | { problem: Problem }) => ({
    deliveryId: delivery.id,
    attemptNumber,
    state,
    request: null,
    problem: null,
    ...outcome,
    doubts,
  });
  if ('problem' in current) return answer(current);

  const made = { ...current, destination: { ...current.destination, ...earlier } };
  const { destination, content } = made;
  const kept = recorded && Object.keys(recorded.requestHeaders).length > 0 ? recorded.requestHeaders : null;
  const shown = shownRequest(ctx, made, {
    attempt: attemptNumber,
    at: recorded?.startedAt ?? new Date(),
    kept,
  });
  if ('problem' in shown) return answer(shown);
  if (state === 'made' && kept === null) doubts.push(doubt('HEADERS_NOT_KEPT'));
  if (state !== 'made' && destination.signingSecret !== null) doubts.push(doubt('SIGNED_LATER'));
  if (state === 'next' && !destination.enabled) doubts.push(doubt('DESTINATION_DISABLED', now));
  return answer({ request: { ...shown.request, ...(includeBody && shownBody(content.body)) } });
}

/** The path and the query of an address may be secrets. */
function shownUrl(ctx: Context, url: string): string {
  if (allows(callerOf(ctx).key.scopes, 'destinations:read')) return url;
  return `${URL.parse(url)?.origin ?? ''}/${MASKED}`;
}

export function shownBody(bytes: Buffer) {
  if (isUtf8(bytes)) return { body: bytes.toString('utf8') };
  return { body: bytes.toString('base64'), bodyEncoding: 'base64' };
}

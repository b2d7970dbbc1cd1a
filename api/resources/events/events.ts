import { z } from 'zod';
import { FairQueue } from '../../../core/fairness/fair-queue.ts';
import { headerTexts } from '../../../core/http/headers.ts';
import { METHODS } from '../../../core/delivery/delivery.ts';
import { parseTraceparent, receivedTrace } from '../../../core/http/trace-context.ts';
import { idTime } from '../../../core/text/ids.ts';
import { viewPayload } from '../../../core/text/payload.ts';
import { deleteEvent } from '../../../db/delivery/deletions.ts';
import { deliveriesOfEvent, timelineOfEvent } from '../../../db/history/deliveries.ts';
import { type EventRecord, findEvent, isEventSearch, listEvents } from '../../../db/history/events.ts';
import { SEARCH_MS, SearchTooBroadError } from '../../../db/history/search.ts';
import { loadPayload } from '../../../db/hot-path/load-attempts.ts';
import { requireScope } from '../../auth/scopes.ts';
import { type ApiDeps, type Context, callerOf, organizationId } from '../../request/context.ts';
import { ApiError, invalid, notFound, unavailable } from '../../request/errors.ts';
import { type Operation, operation } from '../../request/operation.ts';
import {
  booleanParam,
  choicesParam,
  containsPattern,
  partAnswer,
  partOf,
  partParams,
  textParam,
  timeParam,
} from '../../request/query.ts';
import { attemptMembers, deliveryAnswer, showDeliveries } from '../deliveries/delivery-view.ts';
import { reader } from '../records.ts';
import {
  component,
  count,
  exampleId,
  flag,
  headers,
  idOf,
  latency,
  named,
  partOfList,
  text,
  timestamp,
  withExample,
} from '../values.ts';

// They hold connections for seconds that other requests need too. Of an organization two run at a time.
const MAX_AT_ONCE = 4;

/**
 * Bounds work of one kind in this process, which organizations share. The function throws ApiError 503 with `busy` when
 * too much of it runs.
 */
export function bounded(most: number) {
  const slots = new FairQueue(most, 1);
  return async <T>(organization: string, busy: string, work: () => Promise<T>): Promise<T> => {
    const leave = slots.takeNow(organization);
    if (leave === null) throw unavailable(busy);
    try {
      return await work();
    } finally {
      leave();
    }
  };
}

/** Runs a search of an organization by this filter. @throws ApiError 400 SEARCH_TOO_BROAD, 503 */
export function boundedSearches() {
  const run = bounded(MAX_AT_ONCE);
  return <T>(organization: string, filter: string, search: () => Promise<T>): Promise<T> =>
    run(organization, 'Other searches are running', () => orTooBroad(filter, search));
}

const runSearch = boundedSearches();

/**
 * Reads a part of a list. One that reads many rows counts as a search of the organization.
 * @param how.name the parameter that an error names
 * @param how.isQuick it reads few
 * @throws ApiError 400 SEARCH_TOO_BROAD, 429 and 503 where too many searches run
 */
export function searched<T>(
  ctx: Context,
  { name, isQuick }: { name: string; isQuick: boolean },
  read: () => Promise<T>,
): Promise<T> {
  const { organization } = callerOf(ctx);
  if (isQuick) return orTooBroad(name, read);
  return ctx.deps.requests.run(organization, 'runningSearches', () => runSearch(organization.id, name, read));
}

/** @param filter the parameter that an error names @throws ApiError 400 SEARCH_TOO_BROAD */
async function orTooBroad<T>(filter: string, search: () => Promise<T>): Promise<T> {
  try {
    return await search();
  } catch (error) {
    throw error instanceof SearchTooBroadError ? tooBroad(error, filter) : error;
  }
}

function tooBroad({ searchedFrom, found }: SearchTooBroadError, filter: string) {
  const reached = searchedFrom.toISOString();
  return invalid(
    filter,
    `needs a narrower search: it did not finish within ${SEARCH_MS / 1000} s (searched back to ${reached}, found ${found}); pass from=${reached} or later, or cursor=first`,
    'SEARCH_TOO_BROAD',
  );
}

export const EVENT_STATUSES = ['pending', 'delivered', 'partial', 'failed'] as const;

export const eventFilterParams = {
  sourceId: textParam,
  status: choicesParam(EVENT_STATUSES).describe('One or more statuses.'),
  routed: booleanParam.describe('Whether a route matched.'),
  from: timeParam,
  to: timeParam,
  search: textParam.describe('Matches part of the payload. Case-insensitive. Requires the `payloads:read` scope.'),
};
const getSchema = z.object({
  includePayload: booleanParam.describe('Whether to include the payload. Requires the `payloads:read` scope.'),
  includeDeliveries: booleanParam.describe('Whether to include the deliveries. Requires the `deliveries:read` scope.'),
});

export const eventStatus = withExample(z.enum(EVENT_STATUSES), 'delivered');

const eventMembers = {
  id: idOf('evt'),
  sourceId: idOf('src'),
  source: named('src', 'Orders'),
  status: eventStatus,
  routed: flag(true, 'Whether a route matched. Unrouted events have the status `delivered` and no deliveries.'),
  method: z.enum(METHODS),
  path: text('/orders/new', 'The path below the ingest URL, as received. May be empty.'),
  query: text('shop=main', 'The query string.'),
  headers,
  clientAddress: text('192.0.2.1', "The sender's IP address, as reported by any trusted proxies."),
  traceId: text(
    '4bf92f3577b34da6a3ce929d0e0e4736',
    "The sender's trace ID, or a new trace ID. Null if unknown.",
  ).nullable(),
  payloadSize: withExample(count, 27, 'In bytes.'),
  payloadHash: withExample(z.string().regex(/^sha256:[0-9a-f]{64}$/), `sha256:${'0123456789abcdef'.repeat(4)}`),
  deliveriesCount: withExample(count, 1),
  deliveriesSucceeded: withExample(count, 1),
  deliveriesFailed: withExample(count, 0),
  receivedAt: timestamp,
  createdAt: timestamp,
};
const nextDeliveries = withExample(
  idOf('dlv').nullable(),
  null,
  'The value of `cursor` for older deliveries in `GET /api/deliveries?eventId=`. Null if there are none.',
);
const eventAnswer = component('Event', eventMembers);
const eventInFull = component('EventInFull', {
  ...eventMembers,
  payload: withExample(
    z.unknown().optional(),
    { kind: 'order.paid' },
    'The payload: parsed if JSON, otherwise text or base64. Present only if requested.',
  ),
  payloadEncoding: z.literal('base64').optional().describe('Present only if the payload is not text.'),
  deliveries: z
    .array(deliveryAnswer)
    .optional()
    .describe('The newest 1,000 deliveries, oldest first. Present only if requested.'),
  deliveriesNextCursor: nextDeliveries.optional(),
});

const timelineAnswer = component('EventTimeline', {
  received: timestamp,
  validated: timestamp,
  queued: timestamp,
  deliveries: z.array(
    z.object({
      deliveryId: idOf('dlv'),
      destinationId: idOf('dst', 'dst_wh'),
      destinationName: text('CRM'),
      status: deliveryAnswer.shape.status,
      attempts: z.array(z.object(attemptMembers)),
    }),
  ),
  deliveriesNextCursor: nextDeliveries,
  totalDuration: latency,
});

const base = '/api/organizations/{orgId}/events';
export const eventRecords = reader('event', 'evt', findEvent);
const common = { tag: 'Events', of: eventRecords } as const;

export const eventOperations: Operation[] = [
  operation('listEvents', 'get', base, {
    tag: 'Events',
    summary: 'List events',
    query: z.object({
      ...partParams,
      ...eventFilterParams,
      routeId: textParam.describe('Events with a delivery from this route. Requires the `deliveries:read` scope.'),
      destinationId: textParam.describe(
        'Events with a delivery to this destination or, if `routeId` is set, to this destination from that route. Requires the `deliveries:read` scope.',
      ),
    }),
    answer: { description: 'One page, newest first.', schema: partOfList(eventAnswer) },
    errors: { 400: ['SEARCH_TOO_BROAD'] },
    async run(ctx, { query }) {
      // What it finds tells what payloads hold.
      if (query.search !== undefined) requireScope(ctx, 'payloads:read', 'search');
      const { routeId, destinationId } = query;
      const named = routeId !== undefined ? 'routeId' : destinationId !== undefined ? 'destinationId' : null;
      if (named !== null) requireScope(ctx, 'deliveries:read', named);
      const filter = { ...query, ...patternOf(query) };
      const part = partOf(ctx, query, 'evt');
      // What follows a cursor is found quickly, but for what payloads hold.
      const isQuick = query.search === undefined && (!isEventSearch(filter) || ('after' in part && !part.withTotal));
      const name = query.search === undefined ? (named ?? 'status') : 'search';
      const { events, ...found } = await searched(ctx, { name, isQuick }, () =>
        listEvents(ctx.deps.pool, organizationId(ctx), filter, part),
      );
      return partAnswer(events.map(showEvent), found, query);
    },
  }),
  operation('getEvent', 'get', `${base}/{id}`, {
    tag: 'Events',
    idOf: eventRecords.prefixes,
    summary: 'Get an event',
    query: getSchema,
    answer: { description: 'The event.', schema: eventInFull },
    errors: { 410: ['PAYLOAD_EXPIRED'] },
    async run(ctx, { query }) {
      if (query.includePayload) requireScope(ctx, 'payloads:read', 'includePayload=true');
      if (query.includeDeliveries) requireScope(ctx, 'deliveries:read', 'includeDeliveries=true');
      // After the scope is checked: a key without it gets 403, whether or not the event exists.
      const event = await eventRecords.ofPath(ctx);
      return {
        ...showEvent(event),
        ...(query.includePayload && viewPayload(await requirePayload(ctx.deps, event.id))),
        ...(query.includeDeliveries && (await deliveriesIn(ctx, event.id))),
      };
    },
  }),
  operation('deleteEvent', 'delete', `${base}/{id}`, {
    ...common,
    summary: 'Delete an event',
    description: "Also deletes the event's payload and deliveries.",
    answer: { status: 204, description: 'Deleted.' },
    async run(ctx, { record: event }) {
      const deleted = await deleteEvent(ctx.deps.pool, organizationId(ctx), event.id);
      if (deleted === null) throw notFound('event', event.id);
      ctx.deps.signals.cancelAll(deleted.withWorkflow);
    },
  }),
  operation('getEventPayload', 'get', `${base}/{id}/payload`, {
    ...common,
    scope: 'payloads:read',
    summary: "Get an event's payload as received",
    answer: {
      description: 'The original payload, with its `Content-Type`.',
      headers: {
        'Content-Disposition': text(`attachment; filename="${exampleId('evt')}"`),
        'X-Content-Type-Options': z.literal('nosniff'),
      },
      content: { '*/*': { schema: { type: 'string', format: 'binary', description: 'Any bytes.' } } },
    },
    errors: { 410: ['PAYLOAD_EXPIRED'] },
    // The bytes are untrusted: no browser may render them as a page of this service.
    async run(ctx, { record: event }) {
      const bytes = await requirePayload(ctx.deps, event.id);
      ctx.set({
        'Content-Type': event.headers['content-type'] ?? 'application/octet-stream',
        'Content-Disposition': `attachment; filename="${event.id}"`,
        'X-Content-Type-Options': 'nosniff',
      });
      return bytes;
    },
  }),
  operation('getEventTimeline', 'get', `${base}/{id}/timeline`, {
    ...common,
    summary: "Get an event's timeline",
    answer: { description: "The event's timestamps, and its deliveries with their attempts.", schema: timelineAnswer },
    async run(ctx, { record: event }) {
      const { deliveries, next } = await timelineOfEvent(ctx.deps.pool, organizationId(ctx), event.id);
      const ends = deliveries.flatMap(({ attempts }) => attempts.map(({ completedAt }) => completedAt.getTime()));
      const last = ends.reduce((latest, end) => Math.max(latest, end), event.queuedAt.getTime());
      return {
        received: event.receivedAt,
        validated: event.validatedAt,
        queued: event.queuedAt,
        deliveries: deliveries.map((delivery) => ({
          deliveryId: delivery.id,
          destinationId: delivery.destinationId,
          destinationName: delivery.destinationName ?? '(deleted)',
          status: delivery.status,
          attempts: delivery.attempts,
        })),
        deliveriesNextCursor: next,
        totalDuration: Math.max(0, last - event.receivedAt.getTime()),
      };
    },
  }),
];

export const patternOf = ({ search }: { search?: string | undefined }) =>
  search === undefined ? {} : { payloadPattern: containsPattern(search) };

async function deliveriesIn(ctx: Context, eventId: string) {
  const { deliveries, next } = await deliveriesOfEvent(ctx.deps.pool, organizationId(ctx), eventId);
  return { deliveries: await showDeliveries(ctx, deliveries), deliveriesNextCursor: next };
}

async function requirePayload(deps: ApiDeps, eventId: string): Promise<Buffer> {
  const bytes = await loadPayload(deps.pool, eventId);
  if (bytes === null) throw payloadExpired(eventId);
  return bytes;
}

/** 410: removed by the retention. */
export function payloadExpired(eventId: string): ApiError {
  return new ApiError(
    410,
    'PAYLOAD_EXPIRED',
    `The payload of the event ${eventId} was removed by the retention policy; see HOOKYARD_PAYLOAD_RETENTION_DAYS`,
  );
}

export function showEvent(event: EventRecord) {
  const { sourceName, traceparent, validatedAt: _validated, queuedAt: _queued, ...shown } = event;
  return {
    ...shown,
    source: { id: event.sourceId, name: sourceName },
    headers: headerTexts(event.headers),
    traceId: (parseTraceparent(traceparent) ?? receivedTrace(event.headers))?.traceId ?? null,
    createdAt: new Date(idTime(event.id)),
  };
}

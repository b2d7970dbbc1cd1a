// Events: list, get, payload, timeline, delete. Replays are in replays.ts.
// Rules: EVT-01 to EVT-12, EVT-16 to EVT-23, ERR-30.
import { z } from 'zod';
import { idTime } from '../../core/ids.ts';
import { viewPayload } from '../../core/payload.ts';
import { deleteEvent } from '../../db/delivery/delivery-commands.ts';
import { attemptsOf, type DeliveryRecord, deliveriesOfEvent } from '../../db/history/deliveries.ts';
import { type EventFilter, type EventRecord, findEvent, listEvents, loadPayload } from '../../db/history/events.ts';
import { type ApiDeps, type ApiRouter, type Context, organizationId, param } from '../context.ts';
import { ApiError, notFound } from '../errors.ts';
import { OPEN_STATUSES } from '../../core/delivery-status.ts';
import { limitOf, listAnswer, pageParams } from '../pagination.ts';
import { booleanParam, choiceParam, containsPattern, textParam, timeParam } from '../query.ts';
import { requireId } from '../records.ts';
import { parseQuery } from '../validation.ts';
import { showDelivery, timelineAttempt } from './delivery-view.ts';
import { boundedSearches, type RunSearch } from './event-search.ts';

// Deliveries whose workflow may be open: those under way, and failed ones, which wait for a replay.
const WITH_WORKFLOW: string[] = [...OPEN_STATUSES, 'failed'];

/** Which events: the query of the list, and the body of a replay. */
export const eventFilterParams = {
  sourceId: textParam,
  status: choiceParam(['pending', 'delivered', 'partial', 'failed']),
  routed: booleanParam.meta({ description: 'Whether a route took it.' }),
  from: timeParam,
  to: timeParam,
  search: textParam,
};
export const listSchema = z.object({ ...pageParams, ...eventFilterParams });
export const getSchema = z.object({ includePayload: booleanParam, includeDeliveries: booleanParam });

export function mountEvents(router: ApiRouter, deps: ApiDeps): void {
  const base = '/api/organizations/:orgId/events';
  const runSearch = boundedSearches();
  router.get(base, (ctx) => list(ctx, deps, runSearch));
  router.get(`${base}/:id`, (ctx) => get(ctx, deps));
  router.delete(`${base}/:id`, (ctx) => remove(ctx, deps));
  router.get(`${base}/:id/payload`, (ctx) => payload(ctx, deps));
  router.get(`${base}/:id/timeline`, (ctx) => timeline(ctx, deps));
}

async function list(ctx: Context, deps: ApiDeps, runSearch: RunSearch): Promise<void> {
  const query = parseQuery(ctx, listSchema);
  const read = () => listEvents(deps.pool, organizationId(ctx), eventFilter(query), limitOf(query));
  const { events, total } = await (query.search === undefined ? read() : runSearch(read));
  ctx.body = listAnswer(events.map(show), total, query);
}

/** The filter that parsed `eventFilterParams` ask for. */
export function eventFilter(params: Omit<EventFilter, 'payloadPattern'> & { search?: string }): EventFilter {
  const { sourceId, status, routed, from, to, search } = params;
  return { sourceId, status, routed, from, to, payloadPattern: search && containsPattern(search) };
}

async function get(ctx: Context, deps: ApiDeps): Promise<void> {
  const query = parseQuery(ctx, getSchema);
  const event = await requireEvent(ctx, deps);
  ctx.body = {
    ...show(event),
    ...(query.includePayload && viewPayload(await requirePayload(deps, event.id))),
    ...(query.includeDeliveries && {
      deliveries: (await deliveriesOfEvent(deps.pool, organizationId(ctx), event.id)).map((delivery) =>
        showDelivery(delivery, deps.workflowLink),
      ),
    }),
  };
}

async function remove(ctx: Context, deps: ApiDeps): Promise<void> {
  const event = await requireEvent(ctx, deps);
  const deliveries = await deliveriesOfEvent(deps.pool, organizationId(ctx), event.id);
  if (!(await deleteEvent(deps.pool, organizationId(ctx), event.id))) throw notFound('event', event.id);
  deps.signals.cancelAll(deliveries.filter(({ status }) => WITH_WORKFLOW.includes(status)).map(({ id }) => id));
  ctx.status = 204;
}

// The bytes come from anyone: no browser may take them for a page of this service.
async function payload(ctx: Context, deps: ApiDeps): Promise<void> {
  const event = await requireEvent(ctx, deps);
  const bytes = await requirePayload(deps, event.id);
  ctx.set({
    'Content-Type': event.headers['content-type'] ?? 'application/octet-stream',
    'Content-Disposition': `attachment; filename="${event.id}"`,
    'X-Content-Type-Options': 'nosniff',
  });
  ctx.body = bytes;
}

async function timeline(ctx: Context, deps: ApiDeps): Promise<void> {
  const event = await requireEvent(ctx, deps);
  const deliveries = await deliveriesOfEvent(deps.pool, organizationId(ctx), event.id);
  const attempts = await attemptsOf(
    deps.pool,
    deliveries.map((delivery) => delivery.id),
  );
  const last = Math.max(event.queuedAt.getTime(), ...attempts.map((attempt) => attempt.completedAt.getTime()));
  ctx.body = {
    received: event.receivedAt.toISOString(),
    validated: event.validatedAt.toISOString(),
    queued: event.queuedAt.toISOString(),
    deliveries: deliveries.map((delivery) => ({
      deliveryId: delivery.id,
      destinationId: delivery.destinationId,
      destinationName: destinationName(delivery),
      status: delivery.status,
      attempts: attempts.filter((attempt) => attempt.deliveryId === delivery.id).map(timelineAttempt),
    })),
    totalDuration: Math.max(0, last - event.receivedAt.getTime()),
  };
}

function destinationName(delivery: DeliveryRecord): string {
  return delivery.destinationName ?? '(deleted)';
}

/** The event of the path. @throws ApiError 404 */
export async function requireEvent(ctx: Context, deps: ApiDeps): Promise<EventRecord> {
  const id = param(ctx, 'id');
  requireId('event', 'evt', id);
  const event = await findEvent(deps.pool, organizationId(ctx), id);
  if (!event) throw notFound('event', id);
  return event;
}

async function requirePayload(deps: ApiDeps, eventId: string): Promise<Buffer> {
  const bytes = await loadPayload(deps.pool, eventId);
  if (bytes === null) throw payloadExpired(eventId);
  return bytes;
}

/** 410: what the retention removed. */
export function payloadExpired(eventId: string): ApiError {
  return new ApiError(
    410,
    'PAYLOAD_EXPIRED',
    `The payload of event ${eventId} was removed by the retention policy; see HOOKYARD_PAYLOAD_RETENTION_DAYS`,
  );
}

function show(event: EventRecord) {
  return {
    id: event.id,
    sourceId: event.sourceId,
    source: { id: event.sourceId, name: event.sourceName },
    status: event.status,
    routed: event.routed,
    method: event.method,
    query: event.query,
    headers: event.headers,
    payloadSize: event.payloadSize,
    payloadHash: event.payloadHash,
    deliveriesCount: event.deliveriesCount,
    deliveriesSucceeded: event.deliveriesSucceeded,
    deliveriesFailed: event.deliveriesFailed,
    receivedAt: event.receivedAt.toISOString(),
    createdAt: new Date(idTime(event.id)).toISOString(),
  };
}

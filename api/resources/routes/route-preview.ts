// What a route would make of a stored event now: its verdict, and the requests it would send. Nothing is stored or
// sent.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Passage, StoredFilter } from '../../../core/filters/schema-and-filter.ts';
import { headerTexts } from '../../../core/http/headers.ts';
import { isId, newId } from '../../../core/text/ids.ts';
import type { SchemaError, StoredSchema } from '../../../core/schemas/schema.ts';
import { Destination, Filter, type Route, Schema, Source } from '../../../db/records/entities.ts';
import { type EventRecord, findEvent } from '../../../db/history/events.ts';
import { loadPayload } from '../../../db/hot-path/load-attempts.ts';
import { loadDestination, loadTransform, openSecrets } from '../../../db/hot-path/attempt-config.ts';
import type { EntityManager } from '../../../db/records/orm.ts';
import type { GateSet } from '../../../outbound/threads/index.ts';
import { type Context, entityManager, organizationId } from '../../request/context.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { invalid, notFound } from '../../request/errors.ts';
import { component, count, exampleId, idOf, text, withExample } from '../values.ts';
import { operation } from '../../request/operation.ts';
import { findRoute, requireId } from '../records.ts';
import { requireScope } from '../../auth/scopes.ts';
import { inThreads } from '../../request/threads.ts';
import {
  contentOf,
  problem,
  problemAnswer,
  rendering,
  requestMembers,
  shownBody,
  shownRequest,
} from '../deliveries/delivery-request.ts';
import { payloadExpired } from '../events/events.ts';

// What is shown of a body: answers to POSTs are kept for repeats.
const MOST_SHOWN = 64 * 1024;

const bodySchema = z.object({ eventId: z.string() });

const previewAnswer = component('RoutePreview', {
  routeId: idOf('rte'),
  eventId: idOf('evt'),
  verdict: z
    .enum(['taken', 'filtered', 'schema_failed', 'filter_failed'])
    .describe(
      '`taken`: the route matches. `filtered`: the event does not match the filter. `schema_failed`: the payload does not match the schema. `filter_failed`: the filter exceeds its limits.',
    ),
  error: text(
    'The payload does not match the schema Order (version 3): /order/id must be number',
    'Why the schema check or the filter failed. Null unless `verdict` is `schema_failed` or `filter_failed`.',
  ).nullable(),
  schemaErrors: withExample(
    z.array(z.object({ path: text('/order/id'), message: text('must be number') })),
    [],
    'The first schema errors, if the payload is invalid.',
  ),
  content: z
    .object({
      bodySize: withExample(count, 27, 'In bytes.'),
      body: text('{"kind":"order.paid"}', 'The first 64 KiB of the body: text if UTF-8, otherwise base64.'),
      bodyEncoding: z.literal('base64').optional().describe('Present only if the body is not text.'),
      isCut: withExample(z.boolean(), false, 'Whether the body was truncated.'),
    })
    .nullable()
    .describe('The body for all destinations. Null if nothing would be sent or the transform fails.'),
  requests: z
    .array(
      z.object({
        destinationId: idOf('dst', 'dst_wh'),
        destinationName: text('CRM'),
        enabled: withExample(
          z.boolean(),
          true,
          'Whether the destination is enabled. A disabled destination receives nothing.',
        ),
        request: z.object(requestMembers).nullable().describe('The request. Null if there is a `problem`.'),
        problem: problemAnswer,
      }),
    )
    .describe('One request per destination, in order. Empty if the route does not match.'),
});

export const routePreviewOperation = operation('previewRoute', 'post', '/api/routes/{id}/preview', {
  tag: 'Routes',
  of: findRoute,
  changesNothing: true,
  scope: 'payloads:read',
  alsoScope: 'routes:read',
  summary: "Preview a route's requests for an event",
  description:
    'Uses the current records, including disabled ones. Nothing is sent. The delivery ID and the signatures are made for this preview and belong to no delivery.',
  body: { schema: bodySchema, examples: { plain: { eventId: exampleId('evt') } } },
  answer: { description: 'Whether the route matches, and the requests that it would send.', schema: previewAnswer },
  errors: { 410: ['PAYLOAD_EXPIRED'] },
  async run(ctx, { body: { eventId }, record: route }) {
    const em = entityManager(ctx);
    requireScope(ctx, 'routes:read', 'previewing a route');
    const event = await requireEventOf(ctx, route, eventId);
    // Whose payload was read: otherwise reads of many events by one route would count as the same.
    noteRecords(ctx, [event.id]);
    return rendering(organizationId(ctx), 'Other previews are running', async () => {
      const body = await loadPayload(ctx.deps.pool, event.id);
      if (body === null) throw payloadExpired(event.id);
      const verdict = await matchRoute(em, ctx, route, event, body);
      return {
        routeId: route.id,
        eventId: event.id,
        verdict: verdict.kind,
        error: 'error' in verdict ? verdict.error : null,
        schemaErrors: verdict.schemaErrors,
        ...(verdict.kind === 'taken' ? await requestsOf(em, ctx, route, event, body) : { content: null, requests: [] }),
      };
    });
  },
});

async function requireEventOf(ctx: Context, route: Route, eventId: string): Promise<EventRecord> {
  requireId('event', ['evt'], eventId);
  const event = await findEvent(ctx.deps.pool, organizationId(ctx), eventId);
  if (!event) throw notFound('event', eventId);
  if (event.sourceId !== route.sourceId) throw invalid('eventId', "must be the ID of an event from the route's source");
  return event;
}

type Verdict = Passage & { schemaErrors: SchemaError[] };

/** By the code and in the budgets that webhooks have in a thread. */
async function matchRoute(
  em: EntityManager,
  ctx: Context,
  route: Route,
  { method, path, query, headers }: EventRecord,
  body: Buffer,
): Promise<Verdict> {
  const schema = await schemaOf(em, route);
  const filter = await filterOf(em, route);
  if (schema === null && filter === null) return { kind: 'taken', schemaErrors: [] };
  const set: GateSet = {
    schemas: schema === null ? {} : { [schema.id]: schema },
    filters: filter === null ? {} : { [route.id]: filter },
    gates: [{ schemaId: schema?.id ?? null, filterId: filter === null ? null : route.id, orderKey: null }],
  };
  const gates = JSON.stringify(set);
  const passage = await inThreads(() =>
    ctx.deps.threads.gates({
      organizationId: organizationId(ctx),
      // Threads remember gates by it.
      key: `preview:${createHash('sha256').update(gates).digest('hex')}`,
      gates: () => gates,
      request: { method, headers: headerTexts(headers), path, query },
      keyPath: null,
      body,
    }),
  ).then(({ passages }) => passages[0] ?? ({ kind: 'taken' } as const));
  if (passage.kind !== 'schema_failed' || schema === null) return { ...passage, schemaErrors: [] };
  const content = { body, contentType: headers['content-type'] };
  const [schemaErrors = []] = await inThreads(() => ctx.deps.threads.validate(organizationId(ctx), [schema], content));
  return { ...passage, schemaErrors };
}

async function schemaOf(em: EntityManager, { schemaId }: Route): Promise<StoredSchema | null> {
  if (!schemaId) return null;
  const found = await em.findOne(Schema, { id: schemaId });
  return found && { id: found.id, name: found.name, version: found.version, schema: found.schema };
}

async function filterOf(em: EntityManager, route: Route): Promise<StoredFilter | null> {
  const stored = route.filterId ? await em.findOne(Filter, { id: route.filterId }) : null;
  if (stored) return { conditions: stored.conditions, logic: stored.logic };
  return route.filterConditions ? { conditions: route.filterConditions, logic: route.filterLogic } : null;
}

async function requestsOf(em: EntityManager, ctx: Context, route: Route, event: EventRecord, body: Buffer) {
  const { slug: sourceSlug } = await em.findOneOrFail(Source, { id: route.sourceId }, { fields: ['slug'] });
  const facts = {
    eventId: event.id,
    eventMethod: event.method,
    eventPath: event.path,
    eventQuery: event.query,
    receivedAt: event.receivedAt,
  };
  const { transformId } = route;
  const transform = transformId ? await loadTransform(ctx.deps.pool, organizationId(ctx), transformId, null) : null;
  // Null: it was deleted since the route was read.
  const content =
    transformId && transform === null
      ? problem('TRANSFORM_DELETED', "The route's transform was deleted")
      : await contentOf(ctx, transform, facts, { sourceSlug, headers: event.headers, body });
  const destinations = await em.find(
    Destination,
    { id: { $in: route.destinationIds } },
    { fields: ['id', 'name', 'enabled'] },
  );
  const requests = [];
  for (const id of route.destinationIds) {
    const destination = destinations.find((each) => each.id === id);
    // Deleted in between.
    if (!destination) continue;
    const { name: destinationName, enabled } = destination;
    const made = await requestTo(ctx, id, { event, content, sourceSlug });
    requests.push({ destinationId: id, destinationName, enabled, request: null, problem: null, ...made });
  }
  return { content: 'problem' in content ? null : shownContent(content.body), requests };
}

async function requestTo(
  ctx: Context,
  destinationId: string,
  of: { event: EventRecord; content: Awaited<ReturnType<typeof contentOf>>; sourceSlug: string },
) {
  const { event, content, sourceSlug } = of;
  if (isId('dst_wh', destinationId)) return problem('WAREHOUSE');
  if ('problem' in content) return content;
  const row = await loadDestination(ctx.deps.pool, organizationId(ctx), destinationId);
  if (row === null) return problem('DESTINATION_DELETED');
  const destination = openSecrets(row, ctx.deps.secretBox);
  const { id: eventId, path: eventPath, query: eventQuery, traceparent } = event;
  const received = { eventId, eventPath, eventQuery, traceparent };
  const context = { ...received, deliveryId: newId('dlv'), originalDestinationId: null, failoverReason: null };
  return shownRequest(ctx, { destination, content, context, sourceSlug }, { attempt: 1, at: new Date() });
}

function shownContent(body: Buffer) {
  return { bodySize: body.length, ...shownBody(textPart(body)), isCut: body.length > MOST_SHOWN };
}

/** Its first part, which ends between two characters if it is UTF-8. */
function textPart(body: Buffer): Buffer {
  if (body.length <= MOST_SHOWN) return body;
  let end = MOST_SHOWN;
  // A byte 10xxxxxx continues with a character, which has at most four.
  while (end > MOST_SHOWN - 4 && ((body[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return body.subarray(0, end);
}

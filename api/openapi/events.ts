// Events and their replays in the API's description; their handlers are in ../resources/events.ts, ../resources/replays.ts
// and ../resources/event-replays.ts.
import { z } from 'zod';
import { METHODS } from '../../core/methods.ts';
import * as eventReplays from '../resources/event-replays.ts';
import * as events from '../resources/events.ts';
import * as replays from '../resources/replays.ts';
import { attemptMembers, delivery } from './deliveries.ts';
import { count, flag, headers, idOf, latency, listOf, named, text, timestamp } from '../members/values.ts';
import type { Operation } from './operation.ts';

const status = z.enum(['pending', 'delivered', 'partial', 'failed']).meta({ examples: ['delivered'] });

const eventMembers = {
  id: idOf('evt'),
  sourceId: idOf('src'),
  source: named('src', 'Orders'),
  status,
  routed: flag(
    true,
    'Whether a route took it. One that no route took is `delivered`, with no delivery, and went nowhere.',
  ),
  method: z.enum(METHODS),
  query: text('shop=main', 'Of the address it was sent to.'),
  headers,
  payloadSize: count.meta({ description: 'bytes', examples: [27] }),
  payloadHash: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/)
    .meta({ examples: [`sha256:${'0123456789abcdef'.repeat(4)}`] }),
  deliveriesCount: count.meta({ examples: [1] }),
  deliveriesSucceeded: count.meta({ examples: [1] }),
  deliveriesFailed: count.meta({ examples: [0] }),
  receivedAt: timestamp,
  createdAt: timestamp,
};
const event = z.object(eventMembers).meta({ id: 'Event' });
const eventInFull = z
  .object({
    ...eventMembers,
    payload: z
      .unknown()
      .optional()
      .meta({
        description: 'Parsed when it is JSON, else its text, else base64. Only when asked for.',
        examples: [{ kind: 'order.paid' }],
      }),
    payloadEncoding: z.literal('base64').optional().meta({ description: 'Only when the payload is no text.' }),
    deliveries: z.array(delivery).optional().meta({ description: 'Only when asked for.' }),
  })
  .meta({ id: 'EventInFull' });

const timeline = z
  .object({
    received: timestamp,
    validated: timestamp,
    queued: timestamp,
    deliveries: z.array(
      z.object({
        deliveryId: idOf('dlv'),
        destinationId: idOf('dst', 'dst_wh'),
        destinationName: text('CRM'),
        status: delivery.shape.status,
        attempts: z.array(z.object(attemptMembers)),
      }),
    ),
    totalDuration: latency,
  })
  .meta({ id: 'EventTimeline' });

const filter = z
  .object({
    sourceId: z.string().optional(),
    status: status.optional(),
    routed: z.boolean().optional(),
    from: timestamp.optional(),
    to: timestamp.optional(),
    search: z.string().optional(),
  })
  .meta({ id: 'EventFilter', description: 'The filters as they were understood.', examples: [{ status: 'failed' }] });
const eventsTotal = count.nullable().meta({ description: 'Null when counting them took too long.', examples: [12] });

const replay = z
  .object({
    id: idOf('rpl'),
    status: z.enum(['pending', 'running', 'completed', 'cancelled', 'failed']).meta({ examples: ['running'] }),
    filter,
    destinationIds: z.array(idOf('dst', 'dst_wh')).nullable(),
    ratePerSecond: z
      .int()
      .min(1)
      .meta({ description: 'Events a second.', examples: [50] }),
    eventsTotal,
    eventsReplayed: count,
    eventsExpired: count.meta({ description: 'Their payload was gone.', examples: [0] }),
    eventsUnroutable: count.meta({ description: 'They go nowhere now.', examples: [0] }),
    deliveriesCreated: count,
    replayedUntil: timestamp.nullable().meta({ description: 'Events received before it have been judged.' }),
    error: z
      .string()
      .nullable()
      .meta({ examples: [null] }),
    createdAt: timestamp,
    startedAt: timestamp.nullable(),
    finishedAt: timestamp.nullable(),
    workflowId: idOf('rpl'),
    temporalUrl: text('http://localhost:8233/namespaces/hookyard/workflows/rpl_06f3k2v8q0e7x1c5b9m4n6p8qr').nullable(),
  })
  .meta({ id: 'EventReplay' });
const dryRun = z
  .object({
    dryRun: z.literal(true),
    filter,
    eventsTotal: count,
    eventsExpired: count.meta({ examples: [0] }),
  })
  .meta({ id: 'EventReplayDryRun' });

const base = '/api/organizations/{orgId}/events';
const common = { tag: 'Events', idOf: ['evt'] } as const;
const EVENT = 'evt_06f3k2v8q0e7x1c5b9m4n6p8qr';
const DESTINATION = 'dst_06f3k2v8q0e7x1c5b9m4n6p8qr';
const created = { message: text('1 delivery was created'), deliveriesCreated: count.meta({ examples: [1] }) };

export const eventOperations: Operation[] = [
  {
    ...common,
    method: 'get',
    path: base,
    operationId: 'listEvents',
    summary: 'List events',
    query: events.listSchema,
    answer: { status: 200, description: 'One page, newest first.', schema: listOf(event) },
    errors: { 400: ['SEARCH_TOO_BROAD'] },
  },
  {
    ...common,
    method: 'get',
    path: `${base}/{id}`,
    operationId: 'getEvent',
    summary: 'Get an event',
    query: events.getSchema,
    answer: { status: 200, description: 'The event.', schema: eventInFull },
    errors: { 410: ['PAYLOAD_EXPIRED'] },
  },
  {
    ...common,
    method: 'delete',
    path: `${base}/{id}`,
    operationId: 'deleteEvent',
    summary: 'Delete an event',
    description: 'Also deletes its deliveries and its payload.',
    answer: { status: 204, description: 'It is deleted.' },
  },
  {
    ...common,
    method: 'get',
    path: `${base}/{id}/payload`,
    operationId: 'getEventPayload',
    summary: "Get an event's payload as it was received",
    answer: {
      status: 200,
      description: 'The bytes, with the content type that they came with.',
      headers: {
        'Content-Disposition': text(`attachment; filename="${EVENT}"`),
        'X-Content-Type-Options': z.literal('nosniff'),
      },
      content: { '*/*': { schema: { description: 'Any bytes.' } } },
    },
    errors: { 410: ['PAYLOAD_EXPIRED'] },
  },
  {
    ...common,
    method: 'get',
    path: `${base}/{id}/timeline`,
    operationId: 'getEventTimeline',
    summary: "Get an event's timeline",
    answer: { status: 200, description: 'What happened when.', schema: timeline },
  },
  {
    ...common,
    method: 'post',
    path: `${base}/{id}/replay`,
    operationId: 'replayEvent',
    summary: 'Replay an event',
    body: {
      schema: replays.replaySchema,
      optional: true,
      examples: { everywhere: {}, 'to one destination': { destinationIds: [DESTINATION] } },
    },
    answer: { status: 200, description: 'The new deliveries.', schema: z.object(created) },
    errors: { 410: ['PAYLOAD_EXPIRED'] },
  },
  {
    ...common,
    method: 'post',
    path: `${base}/bulk/replay`,
    operationId: 'replayEvents',
    summary: 'Replay up to 100 events',
    description: 'Ids that do not exist are passed over.',
    body: { schema: replays.bulkSchema, examples: { one: { eventIds: [EVENT] } } },
    answer: {
      status: 200,
      description: 'The new deliveries.',
      schema: z.object({ ...created, eventsQueued: count.meta({ examples: [1] }) }),
    },
    errors: { 410: ['PAYLOAD_EXPIRED'] },
  },
  {
    ...common,
    method: 'post',
    path: `${base}/replay`,
    operationId: 'createEventReplay',
    summary: 'Replay events chosen by a filter',
    description: 'The filters are those of the list. `dryRun` counts and changes nothing.',
    body: {
      schema: eventReplays.createSchema,
      examples: {
        count: { status: 'failed', dryRun: true },
        failed: { status: 'failed', from: '2026-11-21T00:00:00Z', ratePerSecond: 20 },
        everything: { all: true },
      },
    },
    answer: { status: 200, description: 'The replay, or the counts.', schema: z.union([replay, dryRun]) },
    errors: { 400: ['FILTER_TOO_BROAD'], 409: ['TOO_MANY_REPLAYS'] },
  },
  {
    ...common,
    method: 'get',
    path: `${base}/replays`,
    operationId: 'listEventReplays',
    summary: 'List replays',
    query: eventReplays.listSchema,
    answer: { status: 200, description: 'One page, newest first.', schema: listOf(replay) },
  },
  {
    tag: 'Events',
    idOf: ['rpl'],
    method: 'get',
    path: `${base}/replays/{id}`,
    operationId: 'getEventReplay',
    summary: 'Get a replay',
    answer: { status: 200, description: 'The replay and how far it is.', schema: replay },
  },
  {
    tag: 'Events',
    idOf: ['rpl'],
    method: 'post',
    path: `${base}/replays/{id}/cancel`,
    operationId: 'cancelEventReplay',
    summary: 'Cancel a replay',
    answer: { status: 200, description: 'The replay as it is now.', schema: replay },
    errors: { 409: ['INVALID_STATE'] },
  },
];

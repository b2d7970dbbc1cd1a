// Deliveries and attempts in the API's description; their handlers are in ../resources/deliveries.ts.
import { z } from 'zod';
import { LANES } from '../../core/lane.ts';
import * as deliveries from '../resources/deliveries.ts';
import { DELIVERY_STATUSES } from '../../core/delivery-status.ts';
import { count, headers, idOf, latency, listOf, text, timestamp } from './members.ts';
import type { Operation } from './operation.ts';

const statusCode = z
  .int()
  .nullable()
  .meta({ description: 'Null when there was no response.', examples: [200] });

export const deliveryMembers = {
  id: idOf('dlv'),
  eventId: idOf('evt'),
  sourceId: idOf('src'),
  routeId: idOf('rte').nullable(),
  destinationId: idOf('dst', 'dst_wh'),
  status: z.enum(DELIVERY_STATUSES).meta({ examples: ['delivered'] }),
  attemptCount: count.meta({ examples: [1] }),
  latency: latency.nullable().meta({ description: 'Of the latest attempt, ms.' }),
  statusCode,
  error: text('The destination answered 500')
    .nullable()
    .meta({ examples: [null] }),
  nextAttemptAt: timestamp.nullable().meta({ examples: [null] }),
  deliveredAt: timestamp.nullable(),
  finishedAt: timestamp.nullable(),
  createdAt: timestamp,
  failoverOf: idOf('dlv')
    .nullable()
    .meta({ description: 'The delivery that was given up for this one.', examples: [null] }),
  replayOf: idOf('dlv')
    .nullable()
    .meta({ description: 'The delivery that this one repeats.', examples: [null] }),
  lane: z.enum(LANES).nullable().meta({ description: 'In which lane the first attempt was made; null before it.' }),
  batchId: idOf('bat')
    .nullable()
    .meta({ description: 'The file of the warehouse that it is in.', examples: [null] }),
  workflowId: text('dlv_06f3k2v8q0e7x1c5b9m4n6p8qr')
    .nullable()
    .meta({ description: 'Of its workflow in Temporal, if there is one.' }),
  temporalUrl: text('http://localhost:8233/namespaces/hookyard/workflows/dlv_06f3k2v8q0e7x1c5b9m4n6p8qr').nullable(),
};
export const delivery = z.object(deliveryMembers).meta({ id: 'Delivery' });

/** An attempt as an event's timeline shows it. */
export const attemptMembers = {
  attemptNumber: z
    .int()
    .min(1)
    .meta({ examples: [1] }),
  startedAt: timestamp,
  completedAt: timestamp,
  status: z.enum(['success', 'failed']),
  statusCode,
  latency,
};
const attempt = z
  .object({
    ...attemptMembers,
    error: text('The destination answered 500')
      .nullable()
      .meta({ examples: [null] }),
    requestHeaders: headers.nullable().meta({ description: 'As they were sent, secrets masked.' }),
    responseHeaders: headers.nullable(),
    responseBody: text('ok', 'Its first 16 KiB.').nullable(),
  })
  .meta({ id: 'Attempt' });
const deliveryWithAttempts = z
  .object({ ...deliveryMembers, attempts: z.array(attempt) })
  .meta({ id: 'DeliveryWithAttempts' });

const base = '/api/deliveries';
const common = { tag: 'Deliveries', idOf: ['dlv'] } as const;

export const deliveryOperations: Operation[] = [
  {
    ...common,
    method: 'get',
    path: base,
    operationId: 'listDeliveries',
    summary: 'List deliveries',
    query: deliveries.listSchema,
    answer: { status: 200, description: 'One page, newest first.', schema: listOf(delivery) },
  },
  {
    ...common,
    method: 'get',
    path: `${base}/{id}`,
    operationId: 'getDelivery',
    summary: 'Get a delivery with its attempts',
    answer: { status: 200, description: 'The delivery.', schema: deliveryWithAttempts },
  },
  {
    ...common,
    method: 'post',
    path: `${base}/{id}/retry`,
    operationId: 'retryDelivery',
    summary: 'Make the next attempt now',
    answer: {
      status: 200,
      description: 'The wait is over.',
      schema: z.object({ message: text('The next attempt is made now'), deliveryId: idOf('dlv') }),
    },
    errors: { 409: ['INVALID_STATE'] },
  },
  {
    ...common,
    method: 'post',
    path: `${base}/{id}/cancel`,
    operationId: 'cancelDelivery',
    summary: 'Cancel a delivery that is under way',
    answer: { status: 200, description: 'The delivery as it is now.', schema: deliveryWithAttempts },
    errors: { 409: ['INVALID_STATE'] },
  },
  {
    ...common,
    method: 'post',
    path: `${base}/{id}/replay`,
    operationId: 'replayDelivery',
    summary: 'Deliver the event to the same destination again',
    answer: {
      status: 200,
      description: 'A new delivery was made.',
      schema: z.object({
        message: text('The event is delivered again as a new delivery'),
        deliveriesCreated: count.meta({ examples: [1] }),
        deliveryId: idOf('dlv'),
      }),
    },
    errors: { 409: ['INVALID_STATE'], 410: ['PAYLOAD_EXPIRED'] },
  },
];

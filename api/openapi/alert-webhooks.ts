// What channels of type webhook receive, in the API's description (OpenAPI 3.1, "webhooks").
import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiPathItemObject } from 'zod-openapi';
import { CHANGES, CHANNEL_TYPES } from '../../core/messages/channel.ts';
import { ISSUE_EVENT_TYPES } from '../../core/messages/message.ts';
import { ISSUE_KINDS, ISSUE_STATES } from '../../core/messages/issues.ts';
import { component, count, idOf, text, timestamp, withExample } from '../resources/values.ts';

const record = (prefix: string, ...others: string[]) =>
  z
    .object({ id: idOf(prefix, ...others), name: text('CRM').nullable() })
    .nullable()
    .describe('The record that the issue concerns. Null if none. `name` is null if the record was deleted.');

const issue = component(
  'AlertIssue',
  {
    id: idOf('iss'),
    kind: z.enum(ISSUE_KINDS),
    cause: text('HTTP_500'),
    state: z.enum(ISSUE_STATES),
    count,
    firstSeenAt: timestamp,
    lastSeenAt: timestamp,
    openedAt: timestamp,
    resolvedAt: timestamp.nullable(),
    source: record('src'),
    route: record('rte'),
    destination: record('dst', 'dst_wh'),
    sampleEventId: idOf('evt').nullable(),
    sampleDeliveryId: idOf('dlv').nullable(),
    url: text('https://hooks.example.com/api/issues/iss_06f3k2v8q0e7x1c5b9m4n6p8qr').nullable(),
  },
  'The issue as it was when the message was sent.',
);

const common = {
  title: text('Deliveries failing: Orders to CRM', 'A one-line summary.'),
  organization: z.object({ id: idOf('org'), slug: text('shop') }),
  alertChannel: z.object({ id: idOf('alc'), name: text('On call') }),
};
const change = { change: z.enum(CHANGES), issue };
const type = withExample(z.enum(ISSUE_EVENT_TYPES as [string, ...string[]]), 'delivery.failing');
const changes = z.array(z.object({ type, ...change }));

const events = {
  issue: {
    summary: 'An issue changed',
    schema: component('IssueAlert', { type, timestamp, data: z.object({ ...common, ...change }) }),
  },
  digest: {
    summary: 'A digest of issue changes (see `digestMinutes`)',
    schema: component('DigestAlert', { type: z.literal('digest'), timestamp, data: z.object({ ...common, changes }) }),
  },
  channelFailing: {
    summary: 'Another alert channel is failing',
    schema: component('ChannelFailingAlert', {
      type: z.literal('channel.failing'),
      timestamp,
      data: z.object({
        ...common,
        failingChannel: z.object({
          id: idOf('alc'),
          name: text('Team channel'),
          type: z.enum(CHANNEL_TYPES),
          failingSince: timestamp,
          lastError: text('The channel returned 410'),
        }),
        changes: changes.describe('The changes that could not be sent.'),
      }),
    }),
  },
  channelRecovered: {
    summary: 'An alert channel recovered, or was changed or deleted',
    schema: component('ChannelRecoveredAlert', {
      type: z.literal('channel.recovered'),
      timestamp,
      data: z.object({
        ...common,
        recoveredChannel: z.object({
          id: idOf('alc'),
          name: text('Team channel', "The channel's name. Null if the channel was deleted.").nullable(),
        }),
      }),
    }),
  },
  test: {
    summary: 'A test message',
    schema: component('TestAlert', { type: z.literal('test'), timestamp, data: z.object(common) }),
  },
};

const headers = z.object({
  'webhook-id': text('alm_06f3k2v8q0e7x1c5b9m4n6p8qr', 'The message ID, the same for every attempt.'),
  'webhook-timestamp': text('1795430400', 'When this attempt was sent, as a Unix timestamp in seconds.'),
  'webhook-signature': text(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    'The Standard Webhooks signature, or two signatures during a rotation.',
  ),
});

const described = {
  tags: ['Alerts'],
  description: 'Sent to alert channels of type `webhook`, with a Standard Webhooks signature.',
  security: [],
  requestParams: { header: headers },
  responses: {
    '2XX': {
      description:
        'Accepted. After a 408, 425, 429 or 5xx response, or no response, the message is retried for up to an hour.',
    },
  },
} satisfies ZodOpenApiOperationObject;

export const alertWebhooks: Record<string, ZodOpenApiPathItemObject> = Object.fromEntries(
  Object.entries(events).map(([name, { summary, schema }]) => [
    name,
    {
      post: {
        ...described,
        operationId: `receive${name.charAt(0).toUpperCase()}${name.slice(1)}Alert`,
        summary,
        requestBody: { required: true, content: { 'application/json': { schema } } },
      },
    },
  ]),
);

/** The same, as what follows from making a channel: generators that know no webhooks leave their schemas out. */
export const alertCallbacks: ZodOpenApiOperationObject['callbacks'] = {
  alert: {
    '{$request.body#/config/url}': {
      post: {
        ...described,
        operationId: 'receiveAlert',
        summary: 'An alert',
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: z.union(Object.values(events).map(({ schema }) => schema)),
            },
          },
        },
      },
    },
  },
};

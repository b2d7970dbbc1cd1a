// Destinations of the flat family in the API's description; their handlers are in ../resources/destinations.ts and
// ../resources/destination-record.ts. What is special about warehouses is in warehouses.ts.
import { z } from 'zod';
import { AUTH_TYPES, authConfigSchemas } from '../../core/auth-config.ts';
import { METHODS } from '../../core/methods.ts';
import { WAREHOUSE_TYPES } from '../../core/warehouse/config.ts';
import * as bulk from '../resources/bulk.ts';
import { listSchema } from '../resources/destination-record.ts';
import { createDestinationSchema, updateDestinationSchema } from '../members/destinations.ts';
import * as destinations from '../resources/destinations.ts';
import {
  count,
  flag,
  headers,
  idOf,
  latency,
  listOf,
  percent,
  recentTotals,
  stamps,
  text,
  timestamp,
} from '../members/values.ts';
import { NO_CODE } from './errors.ts';
import type { Operation } from './operation.ts';
import {
  createWarehouseBodies,
  shownConfig,
  updateWarehouseBody,
  uploadResults,
  warehouseExample,
  warehouseMembers,
} from '../members/warehouses.ts';

export const retryPolicy = z
  .object({
    maxRetries: z
      .int()
      .min(0)
      .meta({ description: 'After the first attempt.', examples: [5] }),
    initialDelay: latency.meta({ examples: [1000] }),
    maxDelay: latency.meta({ examples: [60_000] }),
    backoffMultiplier: z
      .number()
      .min(1)
      .meta({ examples: [2] }),
  })
  .meta({ id: 'RetryPolicy' });

export const customHeaders = headers.meta({ examples: [{ 'X-Tenant': 'acme' }] });
const address = text('https://example.com/hooks');

const identity = { name: text('CRM'), url: address, enabled: flag(true) };
const httpIdentity = { id: idOf('dst'), type: z.literal('http'), ...identity };
const warehouseIdentity = {
  ...identity,
  id: idOf('dst_wh'),
  type: warehouseMembers.type,
  name: text('Data lake'),
  url: z.literal(''),
};
export const httpSummary = z.object({ ...httpIdentity, ...recentTotals }).meta({ id: 'HttpDestinationSummary' });
const summary = z
  .discriminatedUnion('type', [
    httpSummary,
    z.object({ ...warehouseIdentity, config: shownConfig }).meta({ id: 'WarehouseDestinationSummary' }),
  ])
  .meta({ id: 'DestinationSummary' });

/** Members of an http destination and of its item in an export file. */
export const httpMembers = {
  slug: text('crm'),
  method: z.enum(METHODS),
  headers: customHeaders,
  authType: z.enum(AUTH_TYPES),
  timeoutMs: latency.meta({ examples: [30_000] }),
  rateLimitPerMinute: z
    .int()
    .min(1)
    .nullable()
    .meta({ description: 'Null: unlimited.', examples: [null] }),
  retryPolicy,
};

const commonMembers = {
  ...recentTotals,
  description: text('Of the sales team').nullable(),
  ...httpMembers,
  authConfig: z
    .record(z.string(), z.string())
    .nullable()
    .meta({ description: 'Its secrets are shown as •••• and their last four characters.', examples: [{}] }),
  signingSecret: text('••••aLSw', 'Of Standard Webhooks signatures; null: deliveries are not signed.').nullable(),
  lastDeliveryAt: timestamp.nullable(),
  ...stamps,
};
export const httpDestination = z.object({ ...httpIdentity, ...commonMembers }).meta({ id: 'HttpDestination' });
const destination = z
  .discriminatedUnion('type', [
    httpDestination,
    z
      .object({ ...warehouseIdentity, ...commonMembers, ...warehouseMembers })
      .meta({ id: 'WarehouseDestination', description: 'Members that are for HTTP only have their defaults.' }),
  ])
  .meta({ id: 'Destination' });

// Checked by these schemas when the type of authentication is at hand (destination-record.ts).
const authConfig = z
  .union(Object.values(authConfigSchemas))
  .nullable()
  .optional()
  .meta({ description: 'What it holds depends on `authType`.', examples: [{ token: 'the token of the CRM' }] });

export const createHttpBody = createDestinationSchema.extend({ authConfig });
const createBody = z.union([createHttpBody, ...createWarehouseBodies]);
const updateBody = z.union([updateDestinationSchema, updateWarehouseBody]);

export const health = z
  .object({
    successRate: percent,
    avgLatency: latency,
    p50Latency: latency,
    p95Latency: latency,
    p99Latency: latency,
    totalDeliveries: count,
    successfulDeliveries: count,
    failedDeliveries: count.meta({ examples: [0] }),
    lastDeliveryAt: timestamp.nullable(),
    lastSuccessAt: timestamp.nullable(),
    lastFailureAt: timestamp.nullable(),
    status: z.enum(['healthy', 'degraded', 'failing', 'unknown']),
  })
  .meta({ id: 'DestinationHealth', description: 'Of the last time (HOOKYARD_HEALTH_WINDOW_HOURS, 24 by default).' });

const testResult = z
  .union([
    z.object({
      success: z.literal(true),
      statusCode: z.int().meta({ examples: [200] }),
      latency,
      responseBody: text('ok'),
      message: text('The test webhook was delivered'),
    }),
    z.object({
      success: z.literal(false),
      statusCode: z.int().nullable(),
      latency,
      responseBody: z.string().nullable(),
      error: text('The destination answered 500'),
      message: text('The test webhook failed: the destination answered 500'),
    }),
    ...uploadResults,
  ])
  .meta({ id: 'TestResult' });

const base = '/api/destinations';
const common = { tag: 'Destinations', idOf: ['dst', 'dst_wh'] } as const;
const refused = { 400: ['INVALID_URL', 'INVALID_SLUG', NO_CODE], 403: [NO_CODE], 409: ['DUPLICATE_SLUG'] };

export const destinationOperations: Operation[] = [
  {
    ...common,
    method: 'get',
    path: base,
    operationId: 'listDestinations',
    summary: 'List destinations',
    query: listSchema,
    answer: { status: 200, description: 'One page, newest first.', schema: listOf(summary) },
  },
  {
    ...common,
    method: 'post',
    path: base,
    operationId: 'createDestination',
    summary: 'Create a destination',
    description: `Warehouses (${WAREHOUSE_TYPES.map((type) => `\`${type}\``).join(', ')}) need a Pro or Business plan.`,
    body: {
      schema: createBody,
      examples: {
        plain: { name: 'CRM', url: 'https://example.com/hooks' },
        'with credentials and limits': {
          name: 'ERP',
          url: 'https://erp.example.com/in',
          method: 'PUT',
          headers: { 'X-Tenant': 'acme' },
          authType: 'bearer',
          authConfig: { token: 'the token of the ERP' },
          timeoutMs: 10_000,
          rateLimitPerMinute: 600,
          retryPolicy: { maxRetries: 8, maxDelay: 600_000 },
        },
        warehouse: warehouseExample,
      },
    },
    answer: {
      status: 201,
      description: 'The destination, secrets masked.',
      schema: destination,
      leadsTo: [
        'getDestination',
        'updateDestination',
        'getDestinationHealth',
        'getOrganizationDestination',
        'deleteDestination',
      ],
    },
    errors: refused,
  },
  {
    ...common,
    method: 'get',
    path: `${base}/{id}`,
    operationId: 'getDestination',
    summary: 'Get a destination',
    answer: { status: 200, description: 'The destination, secrets masked.', schema: destination },
  },
  {
    ...common,
    method: 'patch',
    path: `${base}/{id}`,
    operationId: 'updateDestination',
    summary: 'Update a destination',
    description: 'Members that are not sent stay as they are; so does a secret that is sent back masked.',
    body: {
      schema: updateBody,
      examples: { pause: { enabled: false }, 'fewer retries': { retryPolicy: { maxRetries: 3 } } },
    },
    answer: { status: 200, description: 'The destination as it is now.', schema: destination },
    errors: refused,
  },
  {
    ...common,
    method: 'delete',
    path: `${base}/{id}`,
    operationId: 'deleteDestination',
    summary: 'Delete a destination',
    description: 'It is taken out of all routes; the history of its deliveries stays.',
    answer: { status: 204, description: 'It is deleted.' },
  },
  {
    ...common,
    method: 'delete',
    path: `${base}/bulk`,
    operationId: 'deleteDestinations',
    summary: 'Delete many destinations',
    description: 'Ids that do not exist are passed over.',
    body: { schema: bulk.destinationsSchema, examples: { one: { ids: ['dst_06f3k2v8q0e7x1c5b9m4n6p8qr'] } } },
    answer: {
      status: 200,
      description: 'How many there were.',
      schema: z.object({ success: z.literal(true), deleted: count.meta({ examples: [1] }) }),
    },
  },
  {
    ...common,
    method: 'get',
    path: `${base}/{id}/health`,
    operationId: 'getDestinationHealth',
    summary: "Get a destination's health",
    answer: { status: 200, description: 'The health.', schema: health },
  },
  {
    ...common,
    method: 'post',
    path: `${base}/{id}/test`,
    operationId: 'testDestination',
    summary: 'Send a test webhook, or upload a test file',
    description: 'Whatever goes wrong on the way is in the result.',
    body: { schema: destinations.testSchema, optional: true, examples: { plain: { payload: { hello: 'world' } } } },
    answer: { status: 200, description: 'What became of it.', schema: testResult },
  },
];

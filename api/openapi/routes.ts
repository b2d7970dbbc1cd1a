// Routes in the API's description; their handlers are in ../resources/routes.ts and ../resources/route-circuit.ts.
import { z } from 'zod';
import { CIRCUIT_STATES } from '../../core/circuit.ts';
import * as bulk from '../resources/bulk.ts';
import * as circuit from '../resources/route-circuit.ts';
import {
  circuitConfigAnswer,
  circuitConfigSchema,
  createRouteSchema,
  routeAnswer,
  updateRouteSchema,
} from '../members/routes.ts';
import * as routes from '../resources/routes.ts';
import { count, flag, latency, listOf, named, text, timestamp } from '../members/values.ts';
import type { Operation } from './operation.ts';

const circuitStatus = z
  .object({
    circuitState: z.enum(CIRCUIT_STATES),
    failureCount: count.meta({ description: 'Failed attempts in a row.', examples: [0] }),
    failureThreshold: z.int().meta({ examples: [5] }),
    cooldownSeconds: z.int().meta({ examples: [300] }),
    lastFailureAt: timestamp.nullable(),
    lastSuccessAt: timestamp.nullable(),
    openedAt: timestamp.nullable().meta({ description: 'Null when it is not open.' }),
    probeSuccessCount: count.meta({ examples: [0] }),
    probeSuccessThreshold: z.int().meta({ examples: [2] }),
  })
  .meta({ id: 'CircuitStatus' });

const statistics = z
  .object({
    eventsRouted: count,
    eventsFiltered: count.meta({ description: "Refused by the route's filter.", examples: [3] }),
    deliveriesSucceeded: count,
    deliveriesFailed: count.meta({ examples: [0] }),
    avgLatency: latency,
    period: z.enum(['1h', '24h', '7d', '30d']).meta({ examples: ['24h'] }),
  })
  .meta({ id: 'RouteStatistics' });

const base = '/api/routes';
const common = { tag: 'Routes', idOf: ['rte'] } as const;
const ID = '06f3k2v8q0e7x1c5b9m4n6p8qr';
const leadsTo = [
  'getRoute',
  'updateRoute',
  'getRouteStatistics',
  'getCircuitStatus',
  'resetCircuit',
  'configureCircuit',
  'deleteRoute',
];

export const routeOperations: Operation[] = [
  {
    ...common,
    method: 'get',
    path: base,
    operationId: 'listRoutes',
    summary: 'List routes',
    query: routes.listSchema,
    answer: { status: 200, description: 'One page, newest first.', schema: listOf(routeAnswer) },
  },
  {
    ...common,
    method: 'post',
    path: base,
    operationId: 'createRoute',
    summary: 'Create a route',
    body: {
      schema: createRouteSchema,
      examples: {
        plain: { name: 'Orders to the CRM', sourceId: `src_${ID}`, destinationIds: [`dst_${ID}`] },
        'paid orders, with mail': {
          name: 'Paid orders to the CRM',
          sourceId: `src_${ID}`,
          destinationIds: [`dst_${ID}`],
          filterConditions: [{ field: 'payload.kind', operator: 'equals', value: 'order.paid' }],
          circuitFailureThreshold: 10,
          notifyOnFailure: true,
          notifyEmails: 'ops@example.com',
          expectedResponse: { statusCodes: [200] },
        },
      },
    },
    answer: { status: 201, description: 'The route.', schema: routeAnswer, leadsTo },
    errors: { 400: ['INVALID_SOURCE', 'INVALID_FILTER'], 409: ['DUPLICATE_ROUTE'] },
  },
  {
    ...common,
    method: 'get',
    path: `${base}/{id}`,
    operationId: 'getRoute',
    summary: 'Get a route',
    answer: { status: 200, description: 'The route.', schema: routeAnswer },
  },
  {
    ...common,
    method: 'patch',
    path: `${base}/{id}`,
    operationId: 'updateRoute',
    summary: 'Update a route',
    description: 'Members that are not sent stay as they are. The source cannot be changed.',
    body: {
      schema: updateRouteSchema,
      examples: { pause: { enabled: false }, 'take the transform out': { transformId: null } },
    },
    answer: { status: 200, description: 'The route as it is now.', schema: routeAnswer },
    // INVALID_SOURCE: the source was deleted at the same moment.
    errors: { 400: ['INVALID_SOURCE', 'INVALID_FILTER'], 409: ['DUPLICATE_ROUTE'] },
  },
  {
    ...common,
    method: 'delete',
    path: `${base}/{id}`,
    operationId: 'deleteRoute',
    summary: 'Delete a route',
    description: 'Its source, destinations, filter, schema and transform stay.',
    answer: { status: 204, description: 'It is deleted.' },
  },
  {
    ...common,
    method: 'get',
    path: `${base}/{id}/stats`,
    operationId: 'getRouteStatistics',
    summary: "Get a route's statistics",
    query: circuit.statsSchema,
    answer: { status: 200, description: 'The statistics of the period.', schema: statistics },
  },
  {
    ...common,
    method: 'get',
    path: `${base}/{id}/circuit-status`,
    operationId: 'getCircuitStatus',
    summary: "Get the state of a route's circuit breaker",
    answer: { status: 200, description: 'The state.', schema: circuitStatus },
  },
  {
    ...common,
    method: 'post',
    path: `${base}/{id}/reset-circuit`,
    operationId: 'resetCircuit',
    summary: "Close a route's circuit breaker now",
    description: 'What was held is released.',
    answer: {
      status: 200,
      description: 'It is closed.',
      schema: z.object({ message: text('Circuit breaker reset successfully'), circuitState: z.literal('closed') }),
    },
  },
  {
    ...common,
    method: 'patch',
    path: `${base}/{id}/circuit-config`,
    operationId: 'configureCircuit',
    summary: "Change the settings of a route's circuit breaker",
    body: {
      schema: circuitConfigSchema,
      examples: { patient: { circuitCooldownSeconds: 600, circuitFailureThreshold: 10 } },
    },
    answer: {
      status: 200,
      description: 'The settings as they are now.',
      schema: z.object({ ...circuitConfigAnswer, message: text('Circuit breaker configuration updated') }),
    },
  },
  {
    ...common,
    method: 'post',
    path: `${base}/bulk-pause`,
    operationId: 'pauseRoutes',
    summary: 'Pause or resume many routes',
    description: 'Ids that do not exist are passed over.',
    body: { schema: bulk.pauseSchema, examples: { pause: { routeIds: [`rte_${ID}`], isActive: false } } },
    answer: {
      status: 200,
      description: 'The routes that there are.',
      schema: z.object({
        updated: count.meta({ examples: [1] }),
        routes: z.array(named('rte', 'Orders to the CRM').extend({ isActive: flag(false) })),
      }),
    },
  },
  {
    ...common,
    method: 'post',
    path: `${base}/bulk-delete`,
    operationId: 'deleteRoutes',
    summary: 'Delete many routes',
    description: 'Irreversible. Ids that do not exist are passed over.',
    body: { schema: bulk.routesSchema, examples: { one: { routeIds: [`rte_${ID}`] } } },
    answer: {
      status: 200,
      description: 'The routes that there were.',
      schema: z.object({ deleted: count.meta({ examples: [1] }), routes: z.array(named('rte', 'Orders to the CRM')) }),
    },
  },
];

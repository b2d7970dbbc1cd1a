import { z } from 'zod';
import { CIRCUIT_STATES } from '../../../core/delivery/circuit.ts';
import { resetCircuit as closeCircuit, loadCircuits } from '../../../db/circuits/circuits.ts';
import { pausesOf } from '../../../db/circuits/pauses.ts';
import { lastAttempts, routeStatistics } from '../../../db/ledger/statistics.ts';
import { inTransaction } from '../../../db/connections/pool.ts';
import { notFound } from '../../request/errors.ts';
import * as field from '../fields.ts';
import { pauseMembers, showPause } from './pauses.ts';
import { circuitConfigSchema, circuitMembers } from './route-members.ts';
import { answerShape, toAnswer } from '../table.ts';
import { component, count, latency, text, timestamp, withExample } from '../values.ts';
import { type Operation, operation } from '../../request/operation.ts';
import { choiceParam } from '../../request/query.ts';
import { changeRecord, findRoute, tell } from '../records.ts';

const PERIOD_HOURS = { '1h': 1, '24h': 24, '7d': 168, '30d': 720 } as const;
const statsSchema = z.object({ period: choiceParam(['1h', '24h', '7d', '30d']) });

const statusAnswer = component('CircuitStatus', {
  circuitState: z.enum(CIRCUIT_STATES),
  failureCount: withExample(count, 0, 'The number of consecutive failed attempts.'),
  failureThreshold: withExample(z.int(), 5),
  cooldownSeconds: withExample(z.int(), 300),
  lastFailureAt: timestamp.nullable(),
  lastSuccessAt: timestamp.nullable(),
  openedAt: timestamp.nullable().describe('When the circuit breaker opened. Null if not open.'),
  probeSuccessCount: withExample(count, 0),
  probeSuccessThreshold: withExample(z.int(), 2),
  ...answerShape(pauseMembers),
});

const statisticsAnswer = component('RouteStatistics', {
  eventsRouted: count,
  eventsFiltered: withExample(count, 3, "The number of events that did not match the route's filter."),
  deliveriesSucceeded: count,
  deliveriesFailed: withExample(count, 0),
  avgLatency: latency,
  period: withExample(z.enum(['1h', '24h', '7d', '30d']), '24h'),
});

const base = '/api/routes/{id}';
const common = { tag: 'Routes', of: findRoute } as const;

export const routeCircuitOperations: Operation[] = [
  operation('getRouteStatistics', 'get', `${base}/stats`, {
    ...common,
    summary: "Get a route's statistics",
    query: statsSchema,
    answer: { description: 'The statistics for the period.', schema: statisticsAnswer },
    async run(ctx, { query: { period = '24h' }, record: { id } }) {
      return { ...(await routeStatistics(ctx.deps.pool, id, PERIOD_HOURS[period])), period };
    },
  }),
  operation('getCircuitStatus', 'get', `${base}/circuit-status`, {
    ...common,
    summary: "Get a route's circuit breaker state",
    answer: { description: "The circuit breaker's state, counters and settings.", schema: statusAnswer },
    async run(ctx, { record: { id, organizationId, destinationIds } }) {
      const [circuits, pauses, attempts] = await Promise.all([
        loadCircuits(ctx.deps.pool, [id]),
        pausesOf(ctx.deps.pool, organizationId, [id]),
        lastAttempts(ctx.deps.pool, id, destinationIds),
      ]);
      const found = circuits.get(id);
      if (!found) throw notFound('route', id);
      const { circuit, rule } = found;
      return {
        circuitState: circuit.state,
        failureCount: circuit.failureCount,
        failureThreshold: rule.failureThreshold,
        cooldownSeconds: rule.cooldownSeconds,
        ...attempts,
        openedAt: circuit.openedAt && new Date(circuit.openedAt),
        probeSuccessCount: circuit.probeSuccessCount,
        probeSuccessThreshold: rule.probeSuccessThreshold,
        ...showPause(pauses.get(id)),
      };
    },
  }),
  operation('resetCircuit', 'post', `${base}/reset-circuit`, {
    ...common,
    summary: "Close a route's circuit breaker",
    description: 'Held deliveries are sent, unless the route or their destination is paused.',
    answer: {
      description: 'The circuit breaker is closed.',
      schema: z.object({ message: text('Circuit breaker reset successfully'), circuitState: z.literal('closed') }),
    },
    /** Closes the circuit at once; its workflow is signalled and releases the held deliveries. */
    async run(ctx, { record: { id } }) {
      await inTransaction(ctx.deps.pool, (db) => closeCircuit(db, id));
      return { message: 'Circuit breaker reset successfully', circuitState: 'closed' };
    },
  }),
  operation('configureCircuit', 'patch', `${base}/circuit-config`, {
    tag: 'Routes',
    idOf: findRoute.prefixes,
    versioned: true,
    summary: "Update a route's circuit breaker settings",
    body: {
      schema: circuitConfigSchema,
      examples: { patient: { circuitCooldownSeconds: 600, circuitFailureThreshold: 10 } },
    },
    answer: {
      description: 'The updated settings.',
      schema: z.object({ ...answerShape(circuitMembers), message: text('Circuit breaker settings updated') }),
    },
    async run(ctx, { body: patch }) {
      const route = await changeRecord(ctx, findRoute, (stored, em) => em.assign(stored, field.sent(patch)));
      tell(ctx, route);
      return { ...toAnswer(circuitMembers, route, {}), message: 'Circuit breaker settings updated' };
    },
  }),
];

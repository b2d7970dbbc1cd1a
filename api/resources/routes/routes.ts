import { raw } from '@mikro-orm/core';
import { z } from 'zod';
import { CIRCUIT_STATES } from '../../../core/delivery/circuit.ts';
import { circuitStates, stateOfCircuit } from '../../../db/circuits/circuits.ts';
import { pausesOf } from '../../../db/circuits/pauses.ts';
import { inTransaction, type Queryable } from '../../../db/connections/pool.ts';
import { Destination, Route, Source } from '../../../db/records/entities.ts';
import { ingestTotals } from '../../../db/ledger/statistics.ts';
import { deleteRoutes, enableRoutes, type NamedRoute } from '../../../db/records/routes.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { type Context, entityManager, organizationId } from '../../request/context.ts';
import { type Operation, operation } from '../../request/operation.ts';
import { booleanParam, choiceParam, pageParams, textParam } from '../../request/query.ts';
import { parseBody } from '../../request/validation.ts';
import { withheldEmails } from '../alerts/notification-recipients.ts';
import { changeRecord, findRoute, idsOfBulk } from '../records.ts';
import { crudOperations } from '../crud.ts';
import { toAnswer } from '../table.ts';
import { count, exampleId, flag, named, withExample } from '../values.ts';
import { showPause } from './pauses.ts';
import { createRouteSchema, routeAnswer, routeMembers, updateRouteSchema } from './route-members.ts';
import { changeRoute, makeRoute, putRoute, referenceNames } from './route-record.ts';

export const routeOperations: Operation[] = crudOperations({
  tag: 'Routes',
  base: '/api/routes',
  name: 'Route',
  noun: 'route',
  answer: routeAnswer,
  entity: Route,
  find: findRoute,
  show: showAll,
  list: {
    query: z.object({
      ...pageParams,
      enabled: booleanParam,
      sourceId: textParam,
      destinationId: textParam,
      circuitState: choiceParam(CIRCUIT_STATES),
    }),
    where: ({ enabled, sourceId, destinationId, circuitState }) => ({
      ...(enabled !== undefined && { enabled }),
      ...(sourceId && { sourceId }),
      ...(destinationId && { destinationIds: { $contains: [destinationId] } }),
      // PostgreSQL compares: in an outage, the circuits of all routes may be open.
      ...(circuitState && { [raw(stateOfCircuit)]: circuitState }),
    }),
  },
  create: {
    run: async (ctx) => makeRoute(ctx, await parseBody(ctx, createRouteSchema)),
    body: {
      schema: createRouteSchema,
      examples: {
        plain: { name: 'Orders to the CRM', sourceId: exampleId('src'), destinationIds: [exampleId('dst')] },
        'paid orders, with email': {
          name: 'Paid orders to the CRM',
          sourceId: exampleId('src'),
          destinationIds: [exampleId('dst')],
          filterConditions: [{ field: 'payload.kind', operator: 'equals', value: 'order.paid' }],
          circuitFailureThreshold: 10,
          notifyOnFailure: true,
          notifyEmails: 'ops@example.com',
          expectedResponse: { statusCodes: [200] },
        },
      },
    },
    leadsTo: [
      'getRouteStatistics',
      'getCircuitStatus',
      'resetCircuit',
      'configureCircuit',
      'pauseRoute',
      'resumeRoute',
    ],
    errors: { 400: ['INVALID_SOURCE', 'INVALID_FILTER'], 409: ['DUPLICATE_ROUTE'] },
  },
  update: {
    run: async (ctx) => changeRoute(ctx, await parseBody(ctx, updateRouteSchema)),
    description: 'The source cannot be changed.',
    body: {
      schema: updateRouteSchema,
      examples: { disable: { enabled: false }, 'remove the transform': { transformId: null } },
    },
    // INVALID_SOURCE: the source was deleted concurrently.
    errors: { 400: ['INVALID_SOURCE', 'INVALID_FILTER'], 409: ['DUPLICATE_ROUTE'] },
  },
  put: {
    by: 'name',
    run: async (ctx) => putRoute(ctx, await parseBody(ctx, createRouteSchema)),
    description: 'The source cannot be changed. If several routes have this name, the response is 409.',
    body: {
      schema: createRouteSchema,
      examples: { plain: { name: 'orders', sourceId: exampleId('src'), destinationIds: [exampleId('dst')] } },
    },
    errors: { 400: ['INVALID_SOURCE', 'INVALID_FILTER'], 409: ['DUPLICATE_ROUTE', 'INVALID_STATE'] },
  },
  remove: {
    run: (ctx) => changeRecord(ctx, findRoute, ({ id }, em) => em.nativeDelete(Route, { id })),
    description: "The route's source, destinations, filter, schema and transform are kept. Open deliveries continue.",
  },
});

/** Each request is one transaction; unknown ids are ignored. */
export const manyRoutesOperations: Operation[] = [
  operation('pauseRoutes', 'post', '/api/routes/bulk-pause', {
    tag: 'Routes',
    summary: 'Disable or enable multiple routes',
    description: 'A disabled route receives no events. Unknown IDs are skipped.',
    body: {
      selects: true,
      schema: z.strictObject({ routeIds: idsOfBulk, isActive: z.boolean() }),
      examples: { disable: { routeIds: [exampleId('rte')], isActive: false } },
    },
    answer: {
      description: 'The routes, including those that were already in the requested state.',
      schema: z.object({
        updated: withExample(count, 1),
        routes: z.array(named('rte', 'Orders to the CRM').extend({ isActive: flag(false) })),
      }),
    },
    async run(ctx, { body: { routeIds, isActive } }) {
      const routes = await changeMany(ctx, routeIds, (db, ids) => enableRoutes(db, organizationId(ctx), ids, isActive));
      return { updated: routes.length, routes: routes.map(({ id, name }) => ({ id, name, isActive })) };
    },
  }),
  operation('deleteRoutes', 'post', '/api/routes/bulk-delete', {
    tag: 'Routes',
    summary: 'Delete multiple routes',
    description: 'This cannot be undone. Unknown IDs are skipped.',
    body: {
      selects: true,
      schema: z.strictObject({ routeIds: idsOfBulk }),
      examples: { one: { routeIds: [exampleId('rte')] } },
    },
    answer: {
      description: 'The deleted routes.',
      schema: z.object({ deleted: withExample(count, 1), routes: z.array(named('rte', 'Orders to the CRM')) }),
    },
    async run(ctx, { body: { routeIds } }) {
      const routes = await changeMany(ctx, routeIds, (db, ids) => deleteRoutes(db, organizationId(ctx), ids));
      return { deleted: routes.length, routes };
    },
  }),
];

function changeMany(
  ctx: Context,
  ids: string[],
  change: (db: Queryable, ids: string[]) => Promise<NamedRoute[]>,
): Promise<NamedRoute[]> {
  return inTransaction(ctx.deps.pool, async (db) => {
    const changed = await change(db, ids);
    noteRecords(
      ctx,
      changed.map(({ id }) => id),
    );
    return changed;
  });
}

/** Routes with their references, for a whole page at once. */
async function showAll(ctx: Context, routes: Route[]) {
  const em = entityManager(ctx);
  const organization = organizationId(ctx);
  const sourceIds = [...new Set(routes.map((route) => route.sourceId))];
  const destinationIds = [...new Set(routes.flatMap((route) => route.destinationIds))];
  const ids = routes.map((route) => route.id);
  const [sources, destinations, references, totals, circuits, pauses, withheld] = await Promise.all([
    em.fork().find(Source, { id: { $in: sourceIds } }, { fields: ['id', 'name'] }),
    em.fork().find(Destination, { id: { $in: destinationIds } }, { fields: ['id', 'name', 'retryPolicy'] }),
    referenceNames(em, routes),
    ingestTotals(ctx.deps.pool, organization, 'route', ids),
    circuitStates(ctx.deps.pool, ids),
    pausesOf(ctx.deps.pool, organization, ids),
    withheldEmails(ctx, routes),
  ]);
  const names = new Map([...sources, ...destinations].map((record) => [record.id, record.name]));
  for (const [id, name] of references) names.set(id, name);
  const retries = new Map(destinations.map(({ id, retryPolicy }) => [id, retryPolicy.maxRetries]));
  const expand = (id: string) => ({ id, name: names.get(id) ?? '' });
  const expandIfAny = (id: string | null | undefined) => (id ? expand(id) : null);
  return routes.map((route, index) =>
    toAnswer(routeMembers, route, {
      circuitState: circuits.get(route.id) ?? 'closed',
      ...showPause(pauses.get(route.id)),
      withheldEmails: withheld[index] ?? [],
      warnings: warningsOf(route, retries),
      source: expand(route.sourceId),
      destinations: route.destinationIds.map(expand),
      transform: expandIfAny(route.transformId),
      filter: expandIfAny(route.filterId),
      schema: expandIfAny(route.schemaId),
      eventsRouted: totals.get(route.id).events,
      lastEventAt: totals.get(route.id).lastEventAt,
    }),
  );
}

/** With ordering, each failed delivery blocks its key, so an outage should open the circuit breaker first. */
function warningsOf(
  { ordering, destinationIds, circuitFailureThreshold }: Route,
  retries: Map<string, number>,
): string[] {
  if (ordering?.onExhausted !== 'hold') return [];
  const fewest = Math.min(...destinationIds.map((id) => retries.get(id) ?? Number.POSITIVE_INFINITY));
  if (circuitFailureThreshold <= fewest) return [];
  return [
    `circuitFailureThreshold (${circuitFailureThreshold}) is above maxRetries (${fewest}): an outage can use up the retries and block ordering keys before the circuit breaker opens`,
  ];
}

// Routes, one or many.
import { raw } from '@mikro-orm/core';
import { z } from 'zod';
import { CIRCUIT_STATES, type CircuitState } from '../../../core/delivery/circuit.ts';
import { circuitStates, stateOfCircuit } from '../../../db/circuits/circuits.ts';
import { pausesOf } from '../../../db/circuits/pauses.ts';
import { inTransaction, type Queryable } from '../../../db/connections/pool.ts';
import { Destination, Route, Source } from '../../../db/records/entities.ts';
import { ingestTotals } from '../../../db/ledger/statistics.ts';
import { deleteRoutes, enableRoutes, type NamedRoute } from '../../../db/records/routes.ts';
import type { EntityManager } from '../../../db/records/orm.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { type ApiDeps, type Context, entityManager, organizationId, param } from '../../request/context.ts';
import type { Operation } from '../../request/operation.ts';
import { booleanParam, choiceParam, listAnswer, newestFirst, pageParams, textParam } from '../../request/query.ts';
import { parseBody, parseChoice, parseQuery } from '../../request/validation.ts';
import { withheldEmails } from '../alerts/notification-recipients.ts';
import { findRoute, idsOfBulk, requireWanted, tell, transactional, wellFormed } from '../records.ts';
import { crudOperations } from '../crud.ts';
import { toAnswer } from '../table.ts';
import { count, exampleId, flag, named, withExample } from '../values.ts';
import { showPause } from './pauses.ts';
import { createRouteSchema, routeAnswer, routeMembers, updateRouteSchema } from './route-members.ts';
import { changeRoute, makeRoute, putRoute, referenceNames } from './route-record.ts';

const listSchema = z.object({
  ...pageParams,
  enabled: booleanParam,
  sourceId: textParam,
  destinationId: textParam,
  circuitState: choiceParam(CIRCUIT_STATES),
});

export const routeOperations: Operation[] = crudOperations({
  tag: 'Routes',
  idOf: ['rte'],
  base: '/api/routes',
  name: 'Route',
  noun: 'route',
  answer: routeAnswer,
  list: { run: list, query: listSchema },
  create: {
    run: create,
    body: {
      schema: createRouteSchema,
      examples: {
        plain: { name: 'Orders to the CRM', sourceId: exampleId('src'), destinationIds: [exampleId('dst')] },
        'paid orders, with mail': {
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
  get,
  update: {
    run: update,
    description: 'The source cannot be changed.',
    body: {
      schema: updateRouteSchema,
      examples: { disable: { enabled: false }, 'take the transform out': { transformId: null } },
    },
    // INVALID_SOURCE: the source was deleted concurrently.
    errors: { 400: ['INVALID_SOURCE', 'INVALID_FILTER'], 409: ['DUPLICATE_ROUTE'] },
  },
  put: {
    by: 'name',
    run: put,
    description: 'The source of a route cannot be changed. When several routes have the name, the answer is 409.',
    body: {
      schema: createRouteSchema,
      examples: { plain: { name: 'orders', sourceId: exampleId('src'), destinationIds: [exampleId('dst')] } },
    },
    errors: { 400: ['INVALID_SOURCE', 'INVALID_FILTER'], 409: ['DUPLICATE_ROUTE', 'INVALID_STATE'] },
  },
  remove: { run: remove, description: 'Its source, destinations, filter, schema and transform stay.' },
});

const deleteManySchema = z.strictObject({ routeIds: idsOfBulk });
const pauseManySchema = z.strictObject({ routeIds: idsOfBulk, isActive: z.boolean() });

/** Each request is one transaction; unknown ids are ignored. */
export const manyRoutesOperations: Operation[] = [
  {
    tag: 'Routes',
    method: 'post',
    path: '/api/routes/bulk-pause',
    operationId: 'pauseRoutes',
    run: pauseMany,
    summary: 'Disable or enable many routes',
    description: 'A disabled route takes no webhooks. Ids that do not exist are passed over.',
    body: { schema: pauseManySchema, examples: { disable: { routeIds: [exampleId('rte')], isActive: false } } },
    answer: {
      status: 200,
      description: 'The routes that there are.',
      schema: z.object({
        updated: withExample(count, 1),
        routes: z.array(named('rte', 'Orders to the CRM').extend({ isActive: flag(false) })),
      }),
    },
  },
  {
    tag: 'Routes',
    method: 'post',
    path: '/api/routes/bulk-delete',
    operationId: 'deleteRoutes',
    run: removeMany,
    summary: 'Delete many routes',
    description: 'Irreversible. Ids that do not exist are passed over.',
    body: { schema: deleteManySchema, examples: { one: { routeIds: [exampleId('rte')] } } },
    answer: {
      status: 200,
      description: 'The routes that there were.',
      schema: z.object({ deleted: withExample(count, 1), routes: z.array(named('rte', 'Orders to the CRM')) }),
    },
  },
];

async function list(ctx: Context, deps: ApiDeps): Promise<void> {
  const query = parseQuery(ctx, listSchema);
  const em = entityManager(ctx, deps);
  const [routes, total] = await em.findAndCount(
    Route,
    {
      ...(query.enabled !== undefined && { enabled: query.enabled }),
      ...(query.sourceId && { sourceId: query.sourceId }),
      ...(query.destinationId && { destinationIds: { $contains: [query.destinationId] } }),
      ...(query.circuitState && inState(query.circuitState)),
    },
    newestFirst(query),
  );
  ctx.body = listAnswer(await showAll(em, deps, routes), total, query);
}

/** PostgreSQL compares: in an outage, the circuits of all routes may be open. */
const inState = (state: CircuitState) => ({ [raw(stateOfCircuit)]: state });

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const em = entityManager(ctx, deps);
  const route = await makeRoute(ctx, deps, em, await parseBody(ctx, createRouteSchema));
  ctx.status = 201;
  await answer(ctx, em, deps, route);
}

async function put(ctx: Context, deps: ApiDeps): Promise<void> {
  const em = entityManager(ctx, deps);
  const { route, isNew } = await putRoute(ctx, deps, em, await parseBody(ctx, createRouteSchema));
  ctx.status = isNew ? 201 : 200;
  await answer(ctx, em, deps, route);
}

async function get(ctx: Context, deps: ApiDeps): Promise<void> {
  const em = entityManager(ctx, deps);
  await answer(ctx, em, deps, await findRoute(em, param(ctx, 'id')));
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  const em = entityManager(ctx, deps);
  const { sourceId, ...patch } = await parseBody(ctx, updateRouteSchema);
  await answer(ctx, em, deps, await changeRoute(ctx, deps, em, { id: param(ctx, 'id'), sourceId, patch }));
}

async function remove(ctx: Context, deps: ApiDeps): Promise<void> {
  const id = param(ctx, 'id');
  await transactional(ctx, deps, async (em) => {
    requireWanted(ctx, 'route', await findRoute(em, id, 'lock'));
    await em.nativeDelete(Route, { id });
  });
  ctx.status = 204;
}

async function pauseMany(ctx: Context, deps: ApiDeps): Promise<void> {
  const { routeIds, isActive } = await parseChoice(ctx, pauseManySchema);
  const routes = await changeMany(ctx, deps, routeIds, (db, ids) =>
    enableRoutes(db, organizationId(ctx), ids, isActive),
  );
  ctx.body = { updated: routes.length, routes: routes.map(({ id, name }) => ({ id, name, isActive })) };
}

async function removeMany(ctx: Context, deps: ApiDeps): Promise<void> {
  const { routeIds } = await parseChoice(ctx, deleteManySchema);
  const routes = await changeMany(ctx, deps, routeIds, (db, ids) => deleteRoutes(db, organizationId(ctx), ids));
  ctx.body = { deleted: routes.length, routes };
}

function changeMany(
  ctx: Context,
  { pool }: ApiDeps,
  ids: string[],
  change: (db: Queryable, ids: string[]) => Promise<NamedRoute[]>,
): Promise<NamedRoute[]> {
  return inTransaction(pool, async (db) => {
    const changed = await change(db, wellFormed(ids, ['rte']));
    noteRecords(
      ctx,
      changed.map(({ id }) => id),
    );
    return changed;
  });
}

async function answer(ctx: Context, em: EntityManager, deps: ApiDeps, route: Route): Promise<void> {
  tell(ctx, route);
  [ctx.body] = await showAll(em, deps, [route]);
}

/** Routes with their references, for a whole page at once. */
async function showAll(em: EntityManager, deps: ApiDeps, routes: Route[]) {
  const organization = routes[0]?.organizationId ?? '';
  const sourceIds = [...new Set(routes.map((route) => route.sourceId))];
  const destinationIds = [...new Set(routes.flatMap((route) => route.destinationIds))];
  const ids = routes.map((route) => route.id);
  const [sources, destinations, references, totals, circuits, pauses, withheld] = await Promise.all([
    em.fork().find(Source, { id: { $in: sourceIds } }, { fields: ['id', 'name'] }),
    em.fork().find(Destination, { id: { $in: destinationIds } }, { fields: ['id', 'name'] }),
    referenceNames(em, routes),
    ingestTotals(deps.pool, organization, 'route', ids),
    circuitStates(deps.pool, ids),
    pausesOf(deps.pool, organization, ids),
    withheldEmails(deps, organization, routes),
  ]);
  const names = new Map([...sources, ...destinations].map((record) => [record.id, record.name]));
  for (const [id, name] of references) names.set(id, name);
  const expand = (id: string) => ({ id, name: names.get(id) ?? '' });
  const expandIfAny = (id: string | null | undefined) => (id ? expand(id) : null);
  return routes.map((route, index) =>
    toAnswer(routeMembers, route, {
      circuitState: circuits.get(route.id) ?? 'closed',
      ...showPause(pauses.get(route.id)),
      withheldEmails: withheld[index] ?? [],
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

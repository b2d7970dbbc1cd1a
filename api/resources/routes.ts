// Routes: list, create, get, update, delete.
// Rules: ROUTE-25 to ROUTE-36, ROUTE-43 to ROUTE-45, ERR-12, ERR-25.
import { LockMode } from '@mikro-orm/core';
import { z } from 'zod';
import { CIRCUIT_STATES, type CircuitState } from '../../core/circuit.ts';
import { isId, newId } from '../../core/ids.ts';
import { circuitStates, unclosedCircuits } from '../../db/circuits/circuits.ts';
import { type Pause, pausesOf } from '../../db/circuits/pauses.ts';
import { Destination, Route, Source } from '../../db/entities.ts';
import { type IngestTotals, ingestTotals } from '../../db/history/figures/statistics.ts';
import type { EntityManager } from '../../db/orm.ts';
import { type ApiDeps, type Context, entityManager, organizationId, param } from '../context.ts';
import { noteRecords } from '../deeds.ts';
import { ApiError, invalid } from '../errors.ts';
import { requireRouteRoom } from '../limits.ts';
import * as field from '../members/fields.ts';
import { showPause } from '../members/pauses.ts';
import {
  createRouteSchema,
  oneFilter,
  routeAnswer,
  routeDefaults,
  routeMembers,
  updateRouteSchema,
} from '../members/routes.ts';
import { toAnswer } from '../members/table.ts';
import { exampleId, listOf } from '../members/values.ts';
import type { Operation } from '../operation.ts';
import { limitOf, listAnswer, pageParams } from '../pagination.ts';
import { requireWanted, tell } from '../preconditions.ts';
import { booleanParam, choiceParam, textParam } from '../query.ts';
import { findRoute } from '../records.ts';
import { parseBody, parseQuery } from '../validation.ts';
import { refuseOwnAddress } from './own-addresses.ts';
import { requireRecipients, withheldEmails } from './notification-recipients.ts';
import { referenceNames, requireReferences } from './route-references.ts';

const listSchema = z.object({
  ...pageParams,
  enabled: booleanParam,
  sourceId: textParam,
  destinationId: textParam,
  circuitState: choiceParam(CIRCUIT_STATES),
});

const base = '/api/routes';
const common = { tag: 'Routes', idOf: ['rte'] } as const;
const leadsTo = [
  'getRoute',
  'updateRoute',
  'getRouteStatistics',
  'getCircuitStatus',
  'resetCircuit',
  'configureCircuit',
  'pauseRoute',
  'resumeRoute',
  'deleteRoute',
];

export const routeOperations: Operation[] = [
  {
    ...common,
    method: 'get',
    path: base,
    operationId: 'listRoutes',
    run: list,
    summary: 'List routes',
    query: listSchema,
    answer: { status: 200, description: 'One page, newest first.', schema: listOf(routeAnswer) },
  },
  {
    ...common,
    method: 'post',
    path: base,
    operationId: 'createRoute',
    versioned: true,
    run: create,
    summary: 'Create a route',
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
    answer: { status: 201, description: 'The route.', schema: routeAnswer, leadsTo },
    errors: { 400: ['INVALID_SOURCE', 'INVALID_FILTER'], 409: ['DUPLICATE_ROUTE'] },
  },
  {
    ...common,
    method: 'get',
    path: `${base}/{id}`,
    operationId: 'getRoute',
    versioned: true,
    run: get,
    summary: 'Get a route',
    answer: { status: 200, description: 'The route.', schema: routeAnswer },
  },
  {
    ...common,
    method: 'patch',
    path: `${base}/{id}`,
    operationId: 'updateRoute',
    versioned: true,
    run: update,
    summary: 'Update a route',
    description: 'Members that are not sent stay as they are. The source cannot be changed.',
    body: {
      schema: updateRouteSchema,
      examples: { disable: { enabled: false }, 'take the transform out': { transformId: null } },
    },
    answer: { status: 200, description: 'The route as it is now.', schema: routeAnswer },
    // INVALID_SOURCE: the source was deleted concurrently.
    errors: { 400: ['INVALID_SOURCE', 'INVALID_FILTER'], 409: ['DUPLICATE_ROUTE'] },
  },
  {
    ...common,
    method: 'delete',
    path: `${base}/{id}`,
    operationId: 'deleteRoute',
    versioned: true,
    run: remove,
    summary: 'Delete a route',
    description: 'Its source, destinations, filter, schema and transform stay.',
    answer: { status: 204, description: 'It is deleted.' },
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
      ...(query.circuitState && (await inState(ctx, deps, query.circuitState))),
    },
    { ...limitOf(query), orderBy: [{ createdAt: 'desc' }, { id: 'desc' }] },
  );
  ctx.body = listAnswer(await showAll(em, deps, routes), total, query);
}

/** Few circuits are not closed; a route that never failed has none. */
async function inState(ctx: Context, deps: ApiDeps, state: CircuitState) {
  const states = await unclosedCircuits(deps.pool, organizationId(ctx));
  const ids = [...states].filter(([, each]) => state === 'closed' || each === state).map(([id]) => id);
  return { id: state === 'closed' ? { $nin: ids } : { $in: ids } };
}

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseBody(ctx, createRouteSchema);
  await requireRecipients(deps, organizationId(ctx), body.notifyEmails);
  const em = entityManager(ctx, deps);
  const id = newId('rte');
  noteRecords(ctx, [id]);
  const route = await em.transactional(async (transaction) => {
    await lockSource(transaction, body.sourceId);
    requireRouteRoom(ctx, 1 + (await transaction.count(Route, { sourceId: body.sourceId })));
    const created = transaction.create(Route, {
      ...routeDefaults,
      ...oneFilter(field.sent(body)),
      name: body.name,
      sourceId: body.sourceId,
      destinationIds: body.destinationIds,
      id,
      organizationId: organizationId(ctx),
    });
    await requireReferences(transaction, created);
    await checkDestinations(transaction, deps, created);
    await checkDuplicate(transaction, created);
    return created;
  });
  ctx.status = 201;
  await answer(ctx, em, deps, route);
}

async function get(ctx: Context, deps: ApiDeps): Promise<void> {
  const em = entityManager(ctx, deps);
  await answer(ctx, em, deps, await findRoute(em, param(ctx, 'id')));
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  const id = param(ctx, 'id');
  const { sourceId, ...patch } = await parseBody(ctx, updateRouteSchema);
  await requireRecipients(deps, organizationId(ctx), patch.notifyEmails);
  const em = entityManager(ctx, deps);
  const route = await em.transactional(async (transaction) => {
    const { sourceId: storedSourceId } = await findRoute(transaction, id);
    if (sourceId !== undefined && sourceId !== storedSourceId) {
      throw invalid('sourceId', 'cannot be changed after creation');
    }
    await lockSource(transaction, storedSourceId);
    const stored = await findRoute(transaction, id, 'lock');
    requireWanted(ctx, 'route', stored);
    transaction.assign(stored, oneFilter(field.sent(patch)));
    await requireReferences(transaction, patch);
    const { destinationIds, failoverDestinationIds, allowOwnAddress } = patch;
    if (destinationIds || failoverDestinationIds || allowOwnAddress === false) {
      await checkDestinations(transaction, deps, stored);
    }
    if (patch.destinationIds) await checkDuplicate(transaction, stored);
    return stored;
  });
  await answer(ctx, em, deps, route);
}

async function remove(ctx: Context, deps: ApiDeps): Promise<void> {
  const id = param(ctx, 'id');
  await entityManager(ctx, deps).transactional(async (em) => {
    requireWanted(ctx, 'route', await findRoute(em, id, 'lock'));
    await em.nativeDelete(Route, { id });
  });
  ctx.status = 204;
}

// The lock on the source makes the search for a duplicate, the count of its routes and the write one step: creates queue here.
async function lockSource(em: EntityManager, sourceId: string): Promise<void> {
  const found =
    isId('src', sourceId) && (await em.findOne(Source, { id: sourceId }, { lockMode: LockMode.PESSIMISTIC_WRITE }));
  if (!found) throw invalid('sourceId', 'must be the id of a source of this organization', 'INVALID_SOURCE');
}

// Locked against deletion until the route is stored, so that no route refers to a destination that was just deleted.
async function checkDestinations(em: EntityManager, deps: ApiDeps, route: Route): Promise<void> {
  const both = route.failoverDestinationIds.find((id) => route.destinationIds.includes(id));
  if (both !== undefined) throw invalid('failoverDestinationIds', `must not name ${both}, which is in destinationIds`);
  const wanted = [...route.destinationIds, ...route.failoverDestinationIds].toSorted();
  const found = await em.find(
    Destination,
    { id: { $in: wanted } },
    { fields: ['id', 'url'], orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_READ },
  );
  const known = new Set(found.map((destination) => destination.id));
  for (const member of ['destinationIds', 'failoverDestinationIds'] as const) {
    const missing = route[member].find((id) => !known.has(id));
    if (missing !== undefined) {
      throw invalid(member, `must name destinations of this organization; there is no destination with id ${missing}`);
    }
  }
  refuseOwnAddress(deps, route, found);
}

async function checkDuplicate(em: EntityManager, route: Route): Promise<void> {
  const others = await em.find(
    Route,
    { sourceId: route.sourceId, destinationIds: { $contains: route.destinationIds } },
    { fields: ['id', 'name', 'destinationIds'], flushMode: 'commit' },
  );
  // Ids are distinct, so a set of the same size that contains all of them is the same set.
  const same = others.find(
    (other) => other.id !== route.id && other.destinationIds.length === route.destinationIds.length,
  );
  if (same) {
    throw new ApiError(
      409,
      'DUPLICATE_ROUTE',
      `The route ${same.name} (${same.id}) has this source and these destinations`,
    );
  }
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
    ingestTotals(deps.pool, ids),
    circuitStates(deps.pool, ids),
    pausesOf(deps.pool, organization, ids),
    withheldEmails(deps, organization, routes),
  ]);
  const names = new Map([...sources, ...destinations].map((record) => [record.id, record.name]));
  for (const [id, name] of references) names.set(id, name);
  return routes.map((route, index) =>
    show(route, names, {
      totals: totals.get(route.id),
      circuitState: circuits.get(route.id) ?? 'closed',
      pause: pauses.get(route.id),
      withheldEmails: withheld[index] ?? [],
    }),
  );
}

interface RouteState {
  totals: IngestTotals;
  circuitState: CircuitState;
  pause: Pause | undefined;
  withheldEmails: string[];
}

function show(route: Route, names: Map<string, string>, { totals, circuitState, pause, withheldEmails }: RouteState) {
  const expand = (id: string) => ({ id, name: names.get(id) ?? '' });
  const expandIfAny = (id: string | null | undefined) => (id ? expand(id) : null);
  return toAnswer(routeMembers, route, {
    circuitState,
    ...showPause(pause),
    withheldEmails,
    source: expand(route.sourceId),
    destinations: route.destinationIds.map(expand),
    transform: expandIfAny(route.transformId),
    filter: expandIfAny(route.filterId),
    schema: expandIfAny(route.schemaId),
    eventsRouted: totals.events,
    lastEventAt: totals.lastEventAt,
  });
}

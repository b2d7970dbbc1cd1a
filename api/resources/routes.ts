// Routes: list, create, get, update, delete.
// Rules: ROUTE-25 to ROUTE-36, ROUTE-43 to ROUTE-45, ERR-12, ERR-25.
import { LockMode } from '@mikro-orm/core';
import { z } from 'zod';
import { isId, newId } from '../../core/ids.ts';
import { Destination, Route, Source } from '../../db/entities.ts';
import type { CircuitState } from '../../core/circuit.ts';
import { circuitStates } from '../../db/circuits/circuits.ts';
import { ingestTotals, type IngestTotals } from '../../db/history/statistics.ts';
import type { EntityManager } from '../../db/orm.ts';
import { type ApiDeps, type ApiRouter, type Context, entityManager, organizationId, param } from '../context.ts';
import { ApiError, invalid, notFound } from '../errors.ts';
import { limitOf, listAnswer, pageParams } from '../pagination.ts';
import { booleanParam, textParam } from '../query.ts';
import { findRoute, isoTime, requireId } from '../records.ts';
import { parseBody, parseQuery } from '../validation.ts';
import * as field from './fields.ts';
import { referenceNames, requireReferences } from './route-references.ts';
import { createRouteSchema, oneFilter, routeDefaults, updateRouteSchema } from './route-schema.ts';

export const listSchema = z.object({
  ...pageParams,
  enabled: booleanParam,
  sourceId: textParam,
  destinationId: textParam,
});

export function mountRoutes(router: ApiRouter, deps: ApiDeps): void {
  const base = '/api/routes';
  router.get(base, (ctx) => list(ctx, deps));
  router.post(base, (ctx) => create(ctx, deps));
  router.get(`${base}/:id`, (ctx) => get(ctx, deps));
  router.patch(`${base}/:id`, (ctx) => update(ctx, deps));
  router.delete(`${base}/:id`, (ctx) => remove(ctx, deps));
}

async function list(ctx: Context, deps: ApiDeps): Promise<void> {
  const query = parseQuery(ctx, listSchema);
  const em = entityManager(ctx, deps);
  const [routes, total] = await em.findAndCount(
    Route,
    {
      ...(query.enabled !== undefined && { enabled: query.enabled }),
      ...(query.sourceId && { sourceId: query.sourceId }),
      ...(query.destinationId && { destinationIds: { $contains: [query.destinationId] } }),
    },
    { ...limitOf(query), orderBy: [{ createdAt: 'desc' }, { id: 'desc' }] },
  );
  ctx.body = listAnswer(await showAll(em, deps, routes), total, query);
}

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseBody(ctx, createRouteSchema);
  const em = entityManager(ctx, deps);
  const route = await em.transactional(async (transaction) => {
    await lockSource(transaction, body.sourceId);
    const created = transaction.create(Route, {
      ...routeDefaults,
      ...oneFilter(field.sent(body)),
      name: body.name,
      sourceId: body.sourceId,
      destinationIds: body.destinationIds,
      id: newId('rte'),
      organizationId: organizationId(ctx),
    });
    await requireReferences(transaction, created);
    await checkDestinations(transaction, created);
    await checkDuplicate(transaction, created);
    return created;
  });
  ctx.status = 201;
  ctx.body = await showOne(em, deps, route);
}

async function get(ctx: Context, deps: ApiDeps): Promise<void> {
  const em = entityManager(ctx, deps);
  ctx.body = await showOne(em, deps, await findRoute(em, param(ctx, 'id')));
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  const id = param(ctx, 'id');
  const { sourceId, ...patch } = await parseBody(ctx, updateRouteSchema);
  const em = entityManager(ctx, deps);
  const route = await em.transactional(async (transaction) => {
    const { sourceId: storedSourceId } = await findRoute(transaction, id);
    if (sourceId !== undefined && sourceId !== storedSourceId) {
      throw invalid('sourceId', 'cannot be changed after creation');
    }
    await lockSource(transaction, storedSourceId);
    const stored = await findRoute(transaction, id, 'lock');
    transaction.assign(stored, oneFilter(field.sent(patch)));
    await requireReferences(transaction, patch);
    if (patch.destinationIds || patch.failoverDestinationIds) await checkDestinations(transaction, stored);
    if (patch.destinationIds) await checkDuplicate(transaction, stored);
    return stored;
  });
  ctx.body = await showOne(em, deps, route);
}

async function remove(ctx: Context, deps: ApiDeps): Promise<void> {
  const id = param(ctx, 'id');
  requireId('route', 'rte', id);
  const deleted = await entityManager(ctx, deps).nativeDelete(Route, { id });
  if (deleted === 0) throw notFound('route', id);
  ctx.status = 204;
}

// The lock on the source makes the search for a duplicate and the write one step: two equal creates queue here.
async function lockSource(em: EntityManager, sourceId: string): Promise<void> {
  const found =
    isId('src', sourceId) && (await em.findOne(Source, { id: sourceId }, { lockMode: LockMode.PESSIMISTIC_WRITE }));
  if (!found) throw invalid('sourceId', 'must be the id of a source of this organization', 'INVALID_SOURCE');
}

// Locked against deletion until the route is stored, so that no route names a destination that has just gone.
async function checkDestinations(em: EntityManager, route: Route): Promise<void> {
  const both = route.failoverDestinationIds.find((id) => route.destinationIds.includes(id));
  if (both !== undefined) throw invalid('failoverDestinationIds', `must not name ${both}, which is in destinationIds`);
  const wanted = [...route.destinationIds, ...route.failoverDestinationIds].toSorted();
  const found = await em.find(
    Destination,
    { id: { $in: wanted } },
    { fields: ['id'], orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_READ },
  );
  const known = new Set(found.map((destination) => destination.id));
  for (const member of ['destinationIds', 'failoverDestinationIds'] as const) {
    const missing = route[member].find((id) => !known.has(id));
    if (missing !== undefined) {
      throw invalid(member, `must name destinations of this organization; there is no destination with id ${missing}`);
    }
  }
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

async function showOne(em: EntityManager, deps: ApiDeps, route: Route) {
  const [shown] = await showAll(em, deps, [route]);
  return shown;
}

/** Routes with what they refer to, for a whole page at once. */
async function showAll(em: EntityManager, deps: ApiDeps, routes: Route[]) {
  const sourceIds = [...new Set(routes.map((route) => route.sourceId))];
  const destinationIds = [...new Set(routes.flatMap((route) => route.destinationIds))];
  const ids = routes.map((route) => route.id);
  const [sources, destinations, references, totals, circuits] = await Promise.all([
    em.fork().find(Source, { id: { $in: sourceIds } }, { fields: ['id', 'name'] }),
    em.fork().find(Destination, { id: { $in: destinationIds } }, { fields: ['id', 'name'] }),
    referenceNames(em, routes),
    ingestTotals(deps.pool, ids),
    circuitStates(deps.pool, ids),
  ]);
  const names = new Map([...sources, ...destinations].map((record) => [record.id, record.name]));
  for (const [id, name] of references) names.set(id, name);
  return routes.map((route) => show(route, names, totals.get(route.id), circuits.get(route.id) ?? 'closed'));
}

function show(route: Route, names: Map<string, string>, totals: IngestTotals, circuitState: CircuitState) {
  const expand = (id: string) => ({ id, name: names.get(id) ?? '' });
  const expandIfAny = (id: string | null | undefined) => (id ? expand(id) : null);
  return {
    id: route.id,
    name: route.name,
    description: route.description ?? null,
    sourceId: route.sourceId,
    destinationIds: route.destinationIds,
    transformId: route.transformId ?? null,
    filterId: route.filterId ?? null,
    schemaId: route.schemaId ?? null,
    priority: route.priority,
    filterConditions: route.filterConditions ?? null,
    filterLogic: route.filterLogic,
    failoverDestinationIds: route.failoverDestinationIds,
    failoverAfterAttempts: route.failoverAfterAttempts,
    circuitState,
    circuitCooldownSeconds: route.circuitCooldownSeconds,
    circuitFailureThreshold: route.circuitFailureThreshold,
    circuitProbeSuccessThreshold: route.circuitProbeSuccessThreshold,
    notifyOnFailure: route.notifyOnFailure,
    notifyOnSuccess: route.notifyOnSuccess,
    notifyOnRecovery: route.notifyOnRecovery,
    notifyEmails: route.notifyEmails ?? null,
    expectedResponse: route.expectedResponse ?? null,
    // Only there when it is set (ROUTE-23).
    ...(route.lane && { lane: route.lane }),
    enabled: route.enabled,
    source: expand(route.sourceId),
    destinations: route.destinationIds.map(expand),
    transform: expandIfAny(route.transformId),
    filter: expandIfAny(route.filterId),
    schema: expandIfAny(route.schemaId),
    eventsRouted: totals.events,
    lastEventAt: isoTime(totals.lastEventAt),
    createdAt: isoTime(route.createdAt),
    updatedAt: isoTime(route.updatedAt),
  };
}

// Makes routes and changes them, under the lock of their source.
// Rules: ROUTE-43 to ROUTE-45, ROUTE-70, ERR-12, ERR-25.
import { LockMode } from '@mikro-orm/core';
import type { z } from 'zod';
import { isId, newId } from '../../../core/text/ids.ts';
import { Destination, Route, Source } from '../../../db/entities.ts';
import { type EntityManager, lockRouteName } from '../../../db/orm.ts';
import { type ApiDeps, type Context, organizationId, param } from '../../request/context.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { ApiError, invalid } from '../../request/errors.ts';
import { requireRouteRoom } from '../../auth/limits.ts';
import * as field from '../fields.ts';
import { oneFilter, type RouteInput, routeDefaults, type updateRouteSchema } from './route-members.ts';
import { requireNoVersion, requireWanted } from '../../request/preconditions.ts';
import { findRoute } from '../records.ts';
import { changedMembers } from '../by-slug.ts';
import { refuseOwnAddress } from './own-addresses.ts';
import { requireRecipients } from '../alerts/notification-recipients.ts';
import { requireReferences } from './route-references.ts';

/** @throws ApiError 400, 409 DUPLICATE_ROUTE, 429 */
export async function makeRoute(ctx: Context, deps: ApiDeps, em: EntityManager, body: RouteInput): Promise<Route> {
  await requireRecipients(deps, organizationId(ctx), body.notifyEmails);
  return em.transactional(async (transaction) => {
    await lockSource(transaction, body.sourceId);
    return add(ctx, deps, transaction, body);
  });
}

/** Under the lock of the source. */
async function add(ctx: Context, deps: ApiDeps, em: EntityManager, body: RouteInput): Promise<Route> {
  const id = newId('rte');
  noteRecords(ctx, [id]);
  requireRouteRoom(ctx, 1 + (await em.count(Route, { sourceId: body.sourceId })));
  const created = em.create(Route, {
    ...routeDefaults,
    ...oneFilter(field.sent(body)),
    name: body.name,
    sourceId: body.sourceId,
    destinationIds: body.destinationIds,
    id,
    organizationId: organizationId(ctx),
  });
  await requireReferences(em, created);
  await checkDestinations(em, deps, created);
  await checkDuplicate(em, created);
  return created;
}

/** Makes the route of the name in the path, or replaces it. @throws ApiError 400, 409, 412, 429 */
export async function putRoute(
  ctx: Context,
  deps: ApiDeps,
  em: EntityManager,
  body: RouteInput,
): Promise<{ route: Route; isNew: boolean }> {
  const name = param(ctx, 'name');
  if (body.name !== name) throw invalid('name', `must be ${name}, as in the path`);
  await requireRecipients(deps, organizationId(ctx), body.notifyEmails);
  return em.transactional(async (transaction) => {
    // Names are not unique, and two requests may name two sources. Before the lock of the source: who has that waits for no name.
    await lockRouteName(transaction, organizationId(ctx), name);
    await lockSource(transaction, body.sourceId);
    const [found, other] = await transaction.find(
      Route,
      { name },
      { fields: ['id'], limit: 2, disableIdentityMap: true },
    );
    if (other !== undefined) {
      const message = `Several routes are called ${name}; update the one that is meant by its id, or rename the others`;
      throw new ApiError(409, 'INVALID_STATE', message);
    }
    if (found === undefined) {
      requireNoVersion(ctx, 'route', name);
      return { route: await add(ctx, deps, transaction, body), isNew: true };
    }
    noteRecords(ctx, [found.id]);
    return { route: await replace(ctx, deps, transaction, found.id, body), isNew: false };
  });
}

async function replace(ctx: Context, deps: ApiDeps, em: EntityManager, id: string, body: RouteInput): Promise<Route> {
  const { sourceId, ...members } = body;
  const stored = await findRoute(em, id, 'lock');
  requireWanted(ctx, 'route', stored);
  if (stored.sourceId !== sourceId) throw unchangeableSource();
  em.assign(stored, changedMembers(stored, { ...routeDefaults, ...oneFilter(field.sent(members)) }));
  await requireReferences(em, stored);
  await checkDestinations(em, deps, stored);
  await checkDuplicate(em, stored);
  return stored;
}

interface Change {
  id: string;
  /** What was sent: it may only repeat the stored one. */
  sourceId: string | undefined;
  patch: Omit<z.output<typeof updateRouteSchema>, 'sourceId'>;
}

/** @throws ApiError 400, 404, 409 DUPLICATE_ROUTE, 412 */
export async function changeRoute(
  ctx: Context,
  deps: ApiDeps,
  em: EntityManager,
  { id, sourceId, patch }: Change,
): Promise<Route> {
  await requireRecipients(deps, organizationId(ctx), patch.notifyEmails);
  return em.transactional(async (transaction) => {
    const { sourceId: storedSourceId } = await findRoute(transaction, id);
    if (sourceId !== undefined && sourceId !== storedSourceId) throw unchangeableSource();
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
}

const unchangeableSource = () => invalid('sourceId', 'cannot be changed after creation');

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

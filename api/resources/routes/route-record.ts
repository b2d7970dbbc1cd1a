// Makes routes and changes them, under the lock of their source, with the records that they refer to.
import { type EntityName, LockMode } from '@mikro-orm/core';
import type { z } from 'zod';
import { payloadDays } from '../../../core/config/config.ts';
import { addressesUnder } from '../../../core/http/urls.ts';
import { type IdPrefix, isId, newId } from '../../../core/text/ids.ts';
import { Destination, Filter, Route, Schema, Source, Transform } from '../../../db/records/entities.ts';
import { type EntityManager, lockRouteName } from '../../../db/records/orm.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { requireRouteRoom } from '../../auth/request-and-record-limits.ts';
import { type ApiDeps, type Context, entityManager, organizationId, param } from '../../request/context.ts';
import { ApiError, conflict, invalid } from '../../request/errors.ts';
import { requireRecipients } from '../alerts/notification-recipients.ts';
import * as field from '../fields.ts';
import type { RouteReference } from '../processing/named-records.ts';
import { changedMembers, findRoute, requireNoVersion, requireWanted } from '../records.ts';
import { oneFilter, routeDefaults, type RouteInput, type updateRouteSchema } from './route-members.ts';

const DAY_SECONDS = 86_400;

/** @throws ApiError 400, 409 DUPLICATE_ROUTE, 429 */
export async function makeRoute(ctx: Context, body: RouteInput): Promise<Route> {
  await requireRecipients(ctx, body.notifyEmails);
  return entityManager(ctx).transactional(async (em) => {
    await lockSource(em, body.sourceId);
    return add(ctx, em, body);
  });
}

async function add(ctx: Context, em: EntityManager, body: RouteInput): Promise<Route> {
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
  await checkRoute(em, ctx.deps, created);
  return created;
}

async function checkRoute(em: EntityManager, deps: ApiDeps, route: Route): Promise<void> {
  requireHold(deps, route);
  await requireReferences(em, route);
  await checkDestinations(em, deps, route);
  await checkDuplicate(em, route);
}

/** Makes the route of the name in the path, or replaces it. @throws ApiError 400, 409, 412, 429 */
export async function putRoute(ctx: Context, body: RouteInput): Promise<Route> {
  const name = param(ctx, 'name');
  if (body.name !== name) throw invalid('name', `must be ${name}, as in the path`);
  await requireRecipients(ctx, body.notifyEmails);
  let isNew = false;
  const route = await entityManager(ctx).transactional(async (em) => {
    // Names are not unique, and two requests may name two sources. Before the lock of the source: who has that waits
    // for no name.
    await lockRouteName(em, organizationId(ctx), name);
    await lockSource(em, body.sourceId);
    const [found, other] = await em.find(Route, { name }, { fields: ['id'], limit: 2, disableIdentityMap: true });
    if (other !== undefined) {
      const message = `Several routes are named ${name}; update the route by its ID, or rename the others`;
      throw conflict(message);
    }
    if (found === undefined) {
      requireNoVersion(ctx, 'route', name);
      isNew = true;
      return add(ctx, em, body);
    }
    noteRecords(ctx, [found.id]);
    return replace(ctx, em, found.id, body);
  });
  ctx.status = isNew ? 201 : 200;
  return route;
}

async function replace(ctx: Context, em: EntityManager, id: string, body: RouteInput): Promise<Route> {
  const { sourceId, ...members } = body;
  const stored = await findRoute(em, id, 'lock');
  requireWanted(ctx, 'route', stored);
  if (stored.sourceId !== sourceId) throw unchangeableSource();
  em.assign(stored, changedMembers(stored, { ...routeDefaults, ...oneFilter(field.sent(members)) }));
  await checkRoute(em, ctx.deps, stored);
  return stored;
}

/** @param sourceId may only repeat the stored one @throws ApiError 400, 404, 409 DUPLICATE_ROUTE, 412 */
export async function changeRoute(
  ctx: Context,
  { sourceId, ...patch }: z.output<typeof updateRouteSchema>,
): Promise<Route> {
  const id = param(ctx, 'id');
  await requireRecipients(ctx, patch.notifyEmails);
  return entityManager(ctx).transactional(async (em) => {
    const { sourceId: storedSourceId } = await findRoute(em, id);
    if (sourceId !== undefined && sourceId !== storedSourceId) throw unchangeableSource();
    await lockSource(em, storedSourceId);
    const stored = await findRoute(em, id, 'lock');
    requireWanted(ctx, 'route', stored);
    em.assign(stored, oneFilter(field.sent(patch)));
    requireHold(ctx.deps, patch);
    await requireReferences(em, patch);
    const { destinationIds, failoverDestinationIds, allowOwnAddress } = patch;
    if (destinationIds || failoverDestinationIds || allowOwnAddress === false) {
      await checkDestinations(em, ctx.deps, stored);
    }
    if (patch.destinationIds) await checkDuplicate(em, stored);
    return stored;
  });
}

const unchangeableSource = () => invalid('sourceId', 'cannot be changed after creation');

// The lock on the source makes the search for a duplicate, the count of its routes and the write one step: creates
// queue here.
async function lockSource(em: EntityManager, sourceId: string): Promise<void> {
  const found =
    isId('src', sourceId) && (await em.findOne(Source, { id: sourceId }, { lockMode: LockMode.PESSIMISTIC_WRITE }));
  if (!found) throw invalid('sourceId', 'must be the ID of a source in this organization', 'INVALID_SOURCE');
}

// Locked against deletion until the route is stored, so that no route refers to a destination that was just deleted.
async function checkDestinations(em: EntityManager, deps: ApiDeps, route: Route): Promise<void> {
  const both = route.failoverDestinationIds.find((id) => route.destinationIds.includes(id));
  if (both !== undefined)
    throw invalid('failoverDestinationIds', `must not contain ${both}, which is in destinationIds`);
  const wanted = [...route.destinationIds, ...route.failoverDestinationIds].toSorted();
  const found = await em.find(
    Destination,
    { id: { $in: wanted } },
    { fields: ['id', 'url'], orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_READ },
  );
  const known = new Set(found.map((destination) => destination.id));
  for (const member of ['destinationIds', 'failoverDestinationIds'] as const) {
    const missing = route[member].find((id) => !known.has(id));
    if (missing !== undefined)
      throw invalid(member, `must contain only IDs of destinations in this organization; not found: ${missing}`);
  }
  refuseOwnAddress(deps, route, found);
}

/** A key is not blocked for longer than payloads are kept: then nothing could be delivered any more. */
function requireHold({ settings }: ApiDeps, { ordering }: Pick<Partial<Route>, 'ordering'>): void {
  const days = payloadDays(settings);
  if (!ordering || days === null || ordering.holdSeconds <= days * DAY_SECONDS) return;
  const most = `${days * DAY_SECONDS}, the payload retention period (HOOKYARD_PAYLOAD_RETENTION_DAYS)`;
  throw invalid('ordering.holdSeconds', `must be at most ${most}`);
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
  if (same)
    throw new ApiError(
      409,
      'DUPLICATE_ROUTE',
      `The route ${same.name} (${same.id}) already connects this source to these destinations; update that route instead`,
    );
}

// Destinations under HOOKYARD_PUBLIC_URL: what is delivered there comes in again as a webhook, so a route must say that
// it is meant. An address may come to lead here later, by another HOOKYARD_PUBLIC_URL or by an import: attempts check
// it again. Channels of alerts are never there: what goes wrong with an alert as a webhook would be the next alert.

type Deps = Pick<ApiDeps, 'baseUrl'>;
type Named = Pick<Route, 'destinationIds' | 'failoverDestinationIds' | 'allowOwnAddress'>;
type Addressed = Pick<Destination, 'id' | 'url'>;

/** @throws ApiError 400 when a route leads to an own address that it does not allow */
function refuseOwnAddress(deps: Deps, route: Named, destinations: readonly Addressed[]): void {
  const [own] = ownAmong(deps, route, destinations);
  if (own === undefined) return;
  throw invalid(`${memberWith(route, own)}Ids`, `must not contain ${own.id}, ${whyNot(deps)}`);
}

const memberWith = ({ destinationIds }: Named, { id }: { id: string }) =>
  destinationIds.includes(id) ? 'destination' : 'failoverDestination';

/** What is wrong with the routes of a file: one message for each own address that is not allowed. */
export async function ownAddressProblems(
  em: EntityManager,
  deps: Deps,
  routes: readonly (Named & { label: string })[],
): Promise<string[]> {
  const wanted = routes.flatMap((route) => [...route.destinationIds, ...route.failoverDestinationIds]);
  const destinations = await em.find(
    Destination,
    { id: { $in: [...new Set(wanted)] } },
    { fields: ['id', 'url', 'slug'], disableIdentityMap: true },
  );
  return routes.flatMap((route) =>
    ownAmong(deps, route, destinations).map(
      (own) => `${route.label}: ${memberWith(route, own)}Slugs must not contain ${own.slug}, ${whyNot(deps)}`,
    ),
  );
}

/**
 * Refuses an own address for a destination when a route that names it does not allow one.
 * @throws ApiError 400 INVALID_URL
 */
export async function refuseOwnUrl(em: EntityManager, deps: Deps, { id, url }: Addressed): Promise<void> {
  if (!addressesUnder(deps.baseUrl())(url)) return;
  const named = { $or: [{ destinationIds: { $contains: [id] } }, { failoverDestinationIds: { $contains: [id] } }] };
  const route = await em.findOne(Route, { ...named, allowOwnAddress: false }, { fields: ['id'] });
  if (route === null) return;
  throw invalid(
    'url',
    `must not be under ${deps.baseUrl()}, because deliveries would come back as webhooks; to allow this, set allowOwnAddress to true on the route ${route.id}`,
    'INVALID_URL',
  );
}

/** @param config of a channel of alerts, as it was sent @throws ApiError 400 INVALID_URL */
export function refuseOwnChannel(deps: Deps, { url }: Readonly<Record<string, unknown>>): void {
  if (typeof url !== 'string' || !addressesUnder(deps.baseUrl())(url)) return;
  throw invalid(
    'config.url',
    `must not be under ${deps.baseUrl()}, because alerts would come back as webhooks`,
    'INVALID_URL',
  );
}

function ownAmong<One extends Addressed>(deps: Deps, route: Named, destinations: readonly One[]): One[] {
  if (route.allowOwnAddress) return [];
  const isOwn = addressesUnder(deps.baseUrl());
  const named = [...route.destinationIds, ...route.failoverDestinationIds];
  return destinations.filter(({ id, url }) => named.includes(id) && isOwn(url));
}

function whyNot(deps: Deps): string {
  return `whose URL is under ${deps.baseUrl()}, so deliveries would come back as webhooks; to allow this, set allowOwnAddress to true`;
}

type References = Partial<Record<RouteReference, string | null>>;

/** The members used here. MikroORM's types do not accept an entity as a type with fewer members, hence the cast. */
const referred = (entity: typeof Filter | typeof Schema | typeof Transform) =>
  entity as unknown as EntityName<{ id: string; name: string }>;

/** The members of routes that refer to a record, in the order in which these are locked. */
const REFERENCES: { member: RouteReference; kind: string; prefix: IdPrefix; entity: ReturnType<typeof referred> }[] = [
  { member: 'filterId', kind: 'filter', prefix: 'flt', entity: referred(Filter) },
  { member: 'schemaId', kind: 'schema', prefix: 'sch', entity: referred(Schema) },
  { member: 'transformId', kind: 'transform', prefix: 'tfm', entity: referred(Transform) },
];

/**
 * Requires them in the organization of the route, and locks them against deletion until it is stored.
 * @throws ApiError 400 about the member
 */
async function requireReferences(em: EntityManager, route: References): Promise<void> {
  const lock = { lockMode: LockMode.PESSIMISTIC_READ } as const;
  for (const { member, kind, prefix, entity } of REFERENCES) {
    const id = route[member];
    if (typeof id !== 'string' || (isId(prefix, id) && (await em.findOne(entity, { id }, lock)))) continue;
    throw invalid(member, `must be the ID of a ${kind} in this organization`);
  }
}

/** Names of all records that these routes refer to, by id, in at most three queries. */
export async function referenceNames(em: EntityManager, routes: References[]): Promise<Map<string, string>> {
  const found = await Promise.all(
    REFERENCES.map(({ member, entity }) => {
      const ids = [...new Set(routes.flatMap((route) => route[member] ?? []))];
      return ids.length > 0 ? em.fork().find(entity, { id: { $in: ids } }, { fields: ['id', 'name'] }) : [];
    }),
  );
  return new Map(found.flat().map(({ id, name }) => [id, name]));
}

// Routes as export files hold them: they refer to other records by slug.
import { type EntityName, LockMode } from '@mikro-orm/core';
import type { z } from 'zod';
import { Destination, Filter, type Route, Schema, Source, Transform } from '../../db/records/entities.ts';
import type { EntityManager } from '../../db/records/orm.ts';
import { check, refuse } from '../request/validation.ts';
import * as field from '../resources/fields.ts';
import {
  failureThresholdSchema,
  routeDefaults,
  routeImportItem,
  routeMembers,
} from '../resources/routes/route-members.ts';
import { toFileItem } from '../resources/table.ts';

/** A route's references: by id in the database, by slug in a file. */
type Referring = Pick<
  Route,
  'sourceId' | 'destinationIds' | 'failoverDestinationIds' | 'filterId' | 'schemaId' | 'transformId'
>;

export function exportRoute(route: Route, slugs: References) {
  const referring = renamed(route, slugs);
  return {
    ...toFileItem(routeMembers, { ...route, ...referring }, {}),
    destinationSlug: referring.destinationIds[0] ?? null,
    failureThreshold: route.circuitFailureThreshold,
  };
}

export const itemSchema = routeImportItem.superRefine((route, context) => {
  const { destinationSlug, destinationSlugs, filterSlug, filterConditions } = route;
  if (typeof destinationSlug === 'string' && destinationSlugs && destinationSlugs[0] !== destinationSlug) {
    refuse(context, undefined, 'must be the first slug in destinationSlugs, or omitted', ['destinationSlug']);
  }
  if (typeof filterSlug === 'string' && filterConditions?.length) {
    refuse(context, undefined, 'cannot be combined with filterConditions', ['filterSlug']);
  }
  const both = route.failoverDestinationSlugs?.find((failover) => destinationsOf(route).includes(failover));
  if (both !== undefined) {
    refuse(context, undefined, `must not contain ${both}, which is already a destination of the route`, [
      'failoverDestinationSlugs',
    ]);
  }
});

function destinationsOf(
  item: Pick<z.output<typeof routeImportItem>, 'destinationSlugs' | 'destinationSlug'>,
): string[] {
  return item.destinationSlugs ?? (typeof item.destinationSlug === 'string' ? [item.destinationSlug] : []);
}

export type RouteItem = ReturnType<typeof readRouteItem>;

/** As the create endpoint checks its body; whether what it refers to exists is checked later. @throws ApiError 400 */
export function readRouteItem(given: unknown) {
  const item = check(itemSchema, given, 'It');
  const {
    name,
    sourceSlug: sourceId,
    destinationSlug: _first,
    destinationSlugs: _all,
    failoverDestinationSlugs: failoverDestinationIds = [],
    filterSlug: filterId = null,
    schemaSlug: schemaId = null,
    transformSlug: transformId = null,
    failureThreshold,
    isActive = true,
    ...settings
  } = item;
  // The old name of the threshold counts if the file has only that one.
  const circuitFailureThreshold =
    settings.circuitFailureThreshold ??
    check(failureThresholdSchema, { failureThreshold }, 'It').failureThreshold ??
    undefined;
  const slugs: Referring = {
    ...{ sourceId, destinationIds: destinationsOf(item), failoverDestinationIds },
    ...{ filterId, schemaId, transformId },
  };
  // All members: overwriting replaces a route, so members that the file omits go back to their default.
  const members = { ...routeDefaults, ...field.sent({ ...settings, circuitFailureThreshold }), enabled: isActive };
  return { name, slugs, members };
}

type Kind = 'source' | 'filter' | 'schema' | 'transform' | 'destination';

/** For each kind of record the ids by slug, or the slugs by id. */
export type References = Record<Kind, ReadonlyMap<string, string>>;

// MikroORM's types do not accept an entity as a type with fewer members, hence the cast.
type Named = typeof Destination | typeof Filter | typeof Schema | typeof Source | typeof Transform;
const slugged = (entity: Named) => entity as unknown as EntityName<{ id: string; slug: string }>;

/** As imports and deletions lock them, so that they queue. */
const KINDS: {
  kind: Kind;
  entity: ReturnType<typeof slugged>;
  named: (route: Referring) => (string | null | undefined)[];
}[] = [
  { kind: 'source', entity: slugged(Source), named: ({ sourceId }) => [sourceId] },
  { kind: 'filter', entity: slugged(Filter), named: ({ filterId }) => [filterId] },
  { kind: 'schema', entity: slugged(Schema), named: ({ schemaId }) => [schemaId] },
  { kind: 'transform', entity: slugged(Transform), named: ({ transformId }) => [transformId] },
  {
    kind: 'destination',
    entity: slugged(Destination),
    named: ({ destinationIds, failoverDestinationIds }) => [...destinationIds, ...failoverDestinationIds],
  },
];

/** Finds the records that routes refer to by id, or by slug. @param lock against deletion */
export async function findReferences(
  em: EntityManager,
  by: 'id' | 'slug',
  routes: Referring[],
  lock?: 'lock',
): Promise<References> {
  const none: ReadonlyMap<string, string> = new Map();
  const found: References = { source: none, filter: none, schema: none, transform: none, destination: none };
  const lockMode = lock ? LockMode.PESSIMISTIC_READ : LockMode.NONE;
  const options = { fields: ['id', 'slug'], orderBy: { id: 'asc' }, disableIdentityMap: true, lockMode } as const;
  for (const { kind, entity, named } of KINDS) {
    const wanted = [...new Set(routes.flatMap(named).flatMap((each) => each ?? []))];
    if (wanted.length === 0) continue;
    const records = await em.find(entity, { [by]: { $in: wanted } }, options);
    found[kind] = new Map(records.map(({ id, slug }) => (by === 'id' ? [id, slug] : [slug, id])));
  }
  return found;
}

/** One message per referenced record that the organization does not have. */
export function missingReferences({ label, item }: { label: string; item: RouteItem }, ids: References): string[] {
  return KINDS.flatMap(({ kind, named }) =>
    named(item.slugs).flatMap((slug) =>
      slug === null || slug === undefined || ids[kind].has(slug)
        ? []
        : [`${label}: there is no ${kind} with the slug ${JSON.stringify(slug)} in this organization`],
    ),
  );
}

/** The references with slugs for ids, or ids for slugs; whether the records exist was checked before. */
export function renamed(route: Referring, names: References): Referring {
  const one = (kind: Kind, name: string | null | undefined) => (name ? (names[kind].get(name) ?? null) : null);
  const destinations = (all: string[]) => all.flatMap((each) => names.destination.get(each) ?? []);
  return {
    sourceId: one('source', route.sourceId) ?? '',
    destinationIds: destinations(route.destinationIds),
    failoverDestinationIds: destinations(route.failoverDestinationIds),
    filterId: one('filter', route.filterId),
    schemaId: one('schema', route.schemaId),
    transformId: one('transform', route.transformId),
  };
}

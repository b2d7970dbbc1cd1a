// Routes as export files hold them: they refer to other records by slug.
import { type EntityName, LockMode } from '@mikro-orm/core';
import type { z } from 'zod';
import { Destination, Filter, type Route, Schema, Source, Transform } from '../../db/records/entities.ts';
import { type EntityManager, lockRecords } from '../../db/records/orm.ts';
import { check, refuse } from '../request/validation.ts';
import * as field from '../resources/fields.ts';
import {
  failureThresholdSchema,
  routeDefaults,
  routeImportItem,
  routeMembers,
} from '../resources/routes/route-members.ts';
import { toFileItem } from '../resources/table.ts';
import type { CheckedItem } from './files.ts';

type Slugs = ReadonlyMap<string, string>;

export function exportRoute(route: Route, slugs: Slugs) {
  const slugOf = (id: string | null | undefined) => (id ? (slugs.get(id) ?? null) : null);
  const slugsOf = (ids: string[]) => ids.flatMap((id) => slugs.get(id) ?? []);
  const destinationSlugs = slugsOf(route.destinationIds);
  return {
    ...toFileItem(routeMembers, route, {
      sourceSlug: slugOf(route.sourceId),
      destinationSlugs,
      filterSlug: slugOf(route.filterId),
      transformSlug: slugOf(route.transformId),
      schemaSlug: slugOf(route.schemaId),
      failoverDestinationSlugs: slugsOf(route.failoverDestinationIds),
    }),
    destinationSlug: destinationSlugs[0] ?? null,
    failureThreshold: route.circuitFailureThreshold,
  };
}

export const itemSchema = routeImportItem.superRefine((route, context) => {
  const { destinationSlug, destinationSlugs, filterSlug, filterConditions } = route;
  if (typeof destinationSlug === 'string' && destinationSlugs && destinationSlugs[0] !== destinationSlug) {
    refuse(context, undefined, 'must be the first slug in destinationSlugs, or be left out', ['destinationSlug']);
  }
  if (typeof filterSlug === 'string' && filterConditions?.length) {
    refuse(context, undefined, 'cannot be combined with filterConditions', ['filterSlug']);
  }
  const both = route.failoverDestinationSlugs?.find((failover) => destinationsOf(route).includes(failover));
  if (both !== undefined) {
    refuse(context, undefined, `must not contain ${both}, which is already a destination`, [
      'failoverDestinationSlugs',
    ]);
  }
});

function destinationsOf(
  item: Pick<z.output<typeof routeImportItem>, 'destinationSlugs' | 'destinationSlug'>,
): string[] {
  return item.destinationSlugs ?? (typeof item.destinationSlug === 'string' ? [item.destinationSlug] : []);
}

interface RouteSlugs {
  source: string;
  destinations: string[];
  failovers: string[];
  filter: string | null;
  transform: string | null;
  schema: string | null;
}

export type RouteItem = ReturnType<typeof readRouteItem>;

/**
 * Checks an item as the create endpoint checks its body; whether the referenced records exist is checked later.
 * @throws ApiError 400
 */
export function readRouteItem(given: unknown) {
  const item = check(itemSchema, given, 'It');
  const {
    name,
    sourceSlug,
    destinationSlug: _first,
    destinationSlugs: _all,
    failoverDestinationSlugs = [],
    filterSlug = null,
    transformSlug = null,
    schemaSlug = null,
    failureThreshold,
    isActive = true,
    ...settings
  } = item;
  // The old name of the threshold counts if the file has only that one.
  const circuitFailureThreshold =
    settings.circuitFailureThreshold ??
    check(failureThresholdSchema, { failureThreshold }, 'It').failureThreshold ??
    undefined;
  const slugs: RouteSlugs = {
    source: sourceSlug,
    destinations: destinationsOf(item),
    failovers: failoverDestinationSlugs,
    filter: filterSlug,
    transform: transformSlug,
    schema: schemaSlug,
  };
  // All members: overwriting replaces a route, so members that the file omits go back to their default.
  const members = { ...routeDefaults, ...field.sent({ ...settings, circuitFailureThreshold }), enabled: isActive };
  return { name, slugs, members };
}

// Routes refer to other records by id, export files by slug. Maps between the two for all routes of a file at once.

type Kind = 'source' | 'filter' | 'schema' | 'transform' | 'destination';

interface Reference {
  kind: Kind;
  entity: EntityName<{ id: string; slug: string }>;
  idsOf: (route: Route) => (string | null | undefined)[];
  slugsOf: (item: RouteSlugs) => (string | null)[];
}

// MikroORM's types do not accept an entity as a type with fewer members, hence the cast.
type Named = typeof Destination | typeof Filter | typeof Schema | typeof Source | typeof Transform;
const slugged = (entity: Named) => entity as unknown as Reference['entity'];

/** As imports and deletions lock them, so that they queue. */
const REFERENCES: Reference[] = [
  {
    kind: 'source',
    entity: slugged(Source),
    idsOf: ({ sourceId }) => [sourceId],
    slugsOf: ({ source }) => [source],
  },
  {
    kind: 'filter',
    entity: slugged(Filter),
    idsOf: ({ filterId }) => [filterId],
    slugsOf: ({ filter }) => [filter],
  },
  {
    kind: 'schema',
    entity: slugged(Schema),
    idsOf: ({ schemaId }) => [schemaId],
    slugsOf: ({ schema }) => [schema],
  },
  {
    kind: 'transform',
    entity: slugged(Transform),
    idsOf: ({ transformId }) => [transformId],
    slugsOf: ({ transform }) => [transform],
  },
  {
    kind: 'destination',
    entity: slugged(Destination),
    idsOf: ({ destinationIds, failoverDestinationIds }) => [...destinationIds, ...failoverDestinationIds],
    slugsOf: ({ destinations, failovers }) => [...destinations, ...failovers],
  },
];

const wanted = (named: (string | null | undefined)[]): string[] => [...new Set(named.flatMap((each) => each ?? []))];

export async function slugsNamed(em: EntityManager, routes: Route[]): Promise<Slugs> {
  const slugs = new Map<string, string>();
  for (const { entity, idsOf } of REFERENCES) {
    const ids = wanted(routes.flatMap(idsOf));
    if (ids.length === 0) continue;
    const found = await em.find(entity, { id: { $in: ids } }, { fields: ['id', 'slug'] });
    for (const { id, slug } of found) slugs.set(id, slug);
  }
  return slugs;
}

export type References = Record<Kind, ReadonlyMap<string, string>>;

const NONE: ReadonlyMap<string, string> = new Map();

export function findReferences(em: EntityManager, items: RouteSlugs[]): Promise<References> {
  return find(em, items, {});
}

/**
 * The same, locked until the import ends: sources like the create of a route does, so that no other route is stored for
 * them meanwhile; the others against deletion. Rows are locked in the order of ids, and before any route, so that
 * imports and deletions queue. What was changed since is locked too.
 */
export async function lockReferences(
  em: EntityManager,
  organization: string,
  items: RouteSlugs[],
): Promise<References> {
  // Not for the object mapper: its lock would keep workers from storing rows that refer to the source.
  const { source } = await find(em, items, {}, REFERENCES.slice(0, 1));
  await lockRecords(em, 'sources', organization, [...source.values()]);
  return find(em, items, { lockMode: LockMode.PESSIMISTIC_READ });
}

async function find(
  em: EntityManager,
  items: RouteSlugs[],
  lock: { lockMode?: LockMode.PESSIMISTIC_READ },
  kinds: readonly Reference[] = REFERENCES,
): Promise<References> {
  const found: References = { source: NONE, filter: NONE, schema: NONE, transform: NONE, destination: NONE };
  for (const { kind, entity, slugsOf } of kinds) {
    const slugs = wanted(items.flatMap(slugsOf));
    if (slugs.length === 0) continue;
    const options = { fields: ['id', 'slug'], orderBy: { id: 'asc' }, disableIdentityMap: true, ...lock } as const;
    const records = await em.find(entity, { slug: { $in: slugs } }, options);
    found[kind] = new Map(records.map(({ id, slug }) => [slug, id]));
  }
  return found;
}

/** One message per referenced record that the organization does not have. */
export function missingReferences(entry: CheckedItem<RouteItem>, references: References): string[] {
  if (!('item' in entry)) return [];
  const { slugs } = entry.item;
  return REFERENCES.flatMap(({ kind, slugsOf }) =>
    slugsOf(slugs).flatMap((slug) =>
      slug === null || references[kind].has(slug)
        ? []
        : [`${entry.label}: there is no ${kind} with the slug ${JSON.stringify(slug)} in this organization`],
    ),
  );
}

/** The members of a route that refer to other records. This list must be complete. */
export function resolve(slugs: RouteSlugs, references: References) {
  const idOf = (kind: Kind, slug: string): string => {
    const id = references[kind].get(slug);
    if (id === undefined) throw new Error(`a missing ${kind} was not noticed`);
    return id;
  };
  const idIfAny = (kind: Kind, slug: string | null) => (slug === null ? null : idOf(kind, slug));
  return {
    sourceId: idOf('source', slugs.source),
    destinationIds: slugs.destinations.map((slug) => idOf('destination', slug)),
    failoverDestinationIds: slugs.failovers.map((slug) => idOf('destination', slug)),
    filterId: idIfAny('filter', slugs.filter),
    transformId: idIfAny('transform', slugs.transform),
    schemaId: idIfAny('schema', slugs.schema),
  };
}

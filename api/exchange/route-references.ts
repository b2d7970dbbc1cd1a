// Routes refer to other records by id, export files by slug. Maps between the two for all routes of a file at once.
// Rules: EXP-19.
import { type EntityName, LockMode } from '@mikro-orm/core';
import { Destination, Filter, type Route, Schema, Source, Transform } from '../../db/entities.ts';
import type { EntityManager } from '../../db/orm.ts';
import type { CheckedItem } from './exchange.ts';
import type { RouteItem, RouteSlugs, Slugs } from './route-item.ts';

/** The members used here. MikroORM's types do not accept an entity as a type with fewer members, hence the cast. */
type Slugged = { id: string; slug: string };
type Named = typeof Destination | typeof Filter | typeof Schema | typeof Source | typeof Transform;
const slugged = (entity: Named) => entity as unknown as EntityName<Slugged>;

/** The slugs of all records that these routes refer to, by id. */
export async function slugsNamed(em: EntityManager, routes: Route[]): Promise<Slugs> {
  const slugs = new Map<string, string>();
  const collect = async (entity: Named, ids: (string | null | undefined)[]) => {
    const wanted = [...new Set(ids.flatMap((id) => id ?? []))];
    if (wanted.length === 0) return;
    const found = await em.find(slugged(entity), { id: { $in: wanted } }, { fields: ['id', 'slug'] });
    for (const { id, slug } of found) slugs.set(id, slug);
  };
  await collect(
    Source,
    routes.map((route) => route.sourceId),
  );
  await collect(
    Destination,
    routes.flatMap((route) => [...route.destinationIds, ...route.failoverDestinationIds]),
  );
  await collect(
    Filter,
    routes.map((route) => route.filterId),
  );
  await collect(
    Transform,
    routes.map((route) => route.transformId),
  );
  await collect(
    Schema,
    routes.map((route) => route.schemaId),
  );
  return slugs;
}

type RowLock = LockMode.PESSIMISTIC_WRITE | LockMode.PESSIMISTIC_READ;
type Kind = 'source' | 'destination' | 'filter' | 'transform' | 'schema';

/** The ids of all records that the routes of a file refer to, by kind and slug. */
export type References = Record<Kind, ReadonlyMap<string, string>>;

/**
 * Finds the records that the routes of a file refer to and locks them until the import ends: sources like the create of a route
 * does, so that no other route is stored for them meanwhile; the others against deletion. Rows are locked in the order of ids,
 * and before any route, so that imports and deletions queue.
 */
export async function lockReferences(em: EntityManager, items: RouteSlugs[]): Promise<References> {
  const lock = async (entity: Named, lockMode: RowLock, slugs: (string | null)[]) => {
    const wanted = [...new Set(slugs.flatMap((slug) => slug ?? []))];
    if (wanted.length === 0) return new Map<string, string>();
    const found = await em.find(
      slugged(entity),
      { slug: { $in: wanted } },
      { fields: ['id', 'slug'], orderBy: { id: 'asc' }, lockMode },
    );
    return new Map(found.map(({ id, slug }) => [slug, id]));
  };
  const { PESSIMISTIC_WRITE, PESSIMISTIC_READ } = LockMode;
  return {
    source: await lock(
      Source,
      PESSIMISTIC_WRITE,
      items.map(({ source }) => source),
    ),
    filter: await lock(
      Filter,
      PESSIMISTIC_READ,
      items.map(({ filter }) => filter),
    ),
    schema: await lock(
      Schema,
      PESSIMISTIC_READ,
      items.map(({ schema }) => schema),
    ),
    transform: await lock(
      Transform,
      PESSIMISTIC_READ,
      items.map(({ transform }) => transform),
    ),
    destination: await lock(
      Destination,
      PESSIMISTIC_READ,
      items.flatMap(({ destinations, failovers }) => [...destinations, ...failovers]),
    ),
  };
}

/** One message per referenced record that the organization does not have. */
export function missingReferences(entry: CheckedItem<RouteItem>, references: References): string[] {
  if (!('item' in entry)) return [];
  const { source, destinations, failovers, filter, transform, schema } = entry.item.slugs;
  const named: [Kind, string | null][] = [
    ['source', source],
    ...[...destinations, ...failovers].map((slug): [Kind, string] => ['destination', slug]),
    ['filter', filter],
    ['transform', transform],
    ['schema', schema],
  ];
  return named.flatMap(([kind, slug]) =>
    slug === null || references[kind].has(slug)
      ? []
      : [`${entry.label}: there is no ${kind} with the slug ${JSON.stringify(slug)} in this organization`],
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

// The routes that an import may conflict with: those that its file names, and those with the source and destinations of one of them.
import type { EntityManager } from '../orm.ts';

/** An existing route of the organization, with the members that can conflict with an import. */
export interface KnownRoute {
  id: string;
  name: string;
  sourceId: string;
  destinationIds: string[];
}

export interface KnownRoutes {
  /** In the order of ids. */
  routes: KnownRoute[];
  /** How many routes the sources of the file have. */
  counts: { sourceId: string; count: number }[];
}

/** Characters of a name that are compared, without its number. Longer names are cut to make room for the number. */
const COMPARED_LENGTH = 100;

const start = (text: string) => `left(${text}, ${COMPARED_LENGTH})`;
const LIST = '(select json_array_elements_text(?::json))';
const NUMBERED = `or ${start("regexp_replace(name, ' \\([0-9]+\\)$', '')")}
                  in (select ${start('value')} from json_array_elements_text(?::json) value)`;
// As `pathOf` makes it.
const PATH = `source_id || ' ' || array_to_string(array(select id from unnest(destination_ids) id order by id collate "C"), ' ')`;

/** @param isRenamed whether names with a number after them matter too: `Orders (2)` */
export async function knownRoutes(
  em: EntityManager,
  organizationId: string,
  { routes, isRenamed }: { routes: readonly Omit<KnownRoute, 'id'>[]; isRenamed: boolean },
): Promise<KnownRoutes> {
  const names = JSON.stringify([...new Set(routes.map(({ name }) => name))]);
  const sources = JSON.stringify([...new Set(routes.map(({ sourceId }) => sourceId))]);
  const paths = JSON.stringify(routes.map(pathOf));
  return {
    routes: await em.execute<KnownRoute[]>(
      `select id, name, source_id as "sourceId", destination_ids as "destinationIds" from routes
       where organization_id = ?
         and (name in ${LIST} or (source_id in ${LIST} and ${PATH} in ${LIST}) ${isRenamed ? NUMBERED : ''})
       order by id`,
      [organizationId, names, sources, paths, ...(isRenamed ? [names] : [])],
    ),
    counts: await em.execute(
      `select source_id as "sourceId", count(*)::int as count from routes
       where organization_id = ? and source_id in ${LIST} group by source_id order by source_id`,
      [organizationId, sources],
    ),
  };
}

/** Two routes with the same source and destinations are duplicates, whatever the order of these. */
export function pathOf({ sourceId, destinationIds }: Pick<KnownRoute, 'sourceId' | 'destinationIds'>): string {
  return [sourceId, ...destinationIds.toSorted()].join(' ');
}

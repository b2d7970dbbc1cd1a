// Statements about many routes: changes, counts, and those that an import may conflict with. Rows are locked in the
// order of their ids, so that two requests for the same routes queue. Ids of other organizations are ignored.
import type { Queryable } from '../connections/pool.ts';
import type { EntityManager } from './orm.ts';
import { fragment, sql } from '../connections/statements.ts';

export interface NamedRoute {
  id: string;
  name: string;
}

const chosen = (organizationId: string, ids: string[]) => fragment`chosen as materialized (
  select id, name, enabled from routes where id = any(${ids}::text[]) and organization_id = ${organizationId}
  order by id for update
)`;

/**
 * Enables or disables routes; routes already in that state do not change.
 * @returns the routes that exist, in the order of the ids
 */
export async function enableRoutes(
  db: Queryable,
  organizationId: string,
  ids: string[],
  enabled: boolean,
): Promise<NamedRoute[]> {
  return sql(db).rows<NamedRoute>`
    with ${chosen(organizationId, ids)}, changed as (
      update routes r set enabled = ${enabled}, version = r.version + 1, updated_at = now()
      from chosen c where r.id = c.id and c.enabled <> ${enabled}
    )
    select id, name from chosen order by array_position(${ids}::text[], id)`;
}

/** Deletes routes. @returns those that existed, in the order of the ids */
export async function deleteRoutes(db: Queryable, organizationId: string, ids: string[]): Promise<NamedRoute[]> {
  return sql(db).rows<NamedRoute>`
    with ${chosen(organizationId, ids)}, removed as (
      delete from routes r using chosen c where r.id = c.id
    )
    select id, name from chosen order by array_position(${ids}::text[], id)`;
}

export type ReferringColumn = 'filter_id' | 'schema_id' | 'transform_id';

export async function countRoutesOf(
  em: EntityManager,
  organizationId: string,
  column: ReferringColumn,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const rows = await em.execute<{ id: string; count: number }[]>(
    `select ${column} as id, count(*)::int as count from routes
     where organization_id = ? and ${column} in (select json_array_elements_text(?::json)) group by 1`,
    [organizationId, JSON.stringify(ids)],
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}

export interface KnownRoute {
  id: string;
  name: string;
  sourceId: string;
  destinationIds: string[];
}

export interface KnownRoutes {
  /** In the order of ids. */
  routes: KnownRoute[];
  counts: { sourceId: string; count: number }[];
}

/** Characters of a name that are compared, without its number. Longer names are cut to make room for the number. */
const COMPARED_NAME_LENGTH = 100;

const startOfName = (text: string) => `left(${text}, ${COMPARED_NAME_LENGTH})`;
const LIST = '(select json_array_elements_text(?::json))';
const NUMBERED = `or ${startOfName("regexp_replace(name, ' \\([0-9]+\\)$', '')")}
                  in (select ${startOfName('value')} from json_array_elements_text(?::json) value)`;
const PATH = `source_id || ' ' || array_to_string(array(select id from unnest(destination_ids) id
  order by id collate "C"), ' ')`;

/**
 * The routes that an import may conflict with: those that its file names, and those with the source and destinations of
 * one of them.
 * @param isRenamed whether names with a number after them matter too: `Orders (2)`
 */
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

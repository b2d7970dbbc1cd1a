// Changes of many routes in one statement. The rows are locked in the order of their ids, so that two requests for the same
// routes queue. Ids of other organizations are ignored.
import type { Queryable } from '../connections/pool.ts';
import type { EntityManager } from '../orm.ts';

export interface NamedRoute {
  id: string;
  name: string;
}

const chosen = (columns: string): string => `chosen as materialized (
  select ${columns} from routes where id = any($2::text[]) and organization_id = $1 order by id for update
)`;
const CHOSEN = 'select id, name from chosen order by array_position($2::text[], id)';

const ENABLE = `
with ${chosen('id, name, enabled')}, changed as (
  update routes r set enabled = $3, version = r.version + 1, updated_at = now()
  from chosen c where r.id = c.id and c.enabled <> $3
)
${CHOSEN}`;

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
  return (await db.query<NamedRoute>(ENABLE, [organizationId, ids, enabled])).rows;
}

const DELETE = `
with ${chosen('id, name')}, removed as (
  delete from routes r using chosen c where r.id = c.id
)
${CHOSEN}`;

/** Deletes routes. @returns those that existed, in the order of the ids */
export async function deleteRoutes(db: Queryable, organizationId: string, ids: string[]): Promise<NamedRoute[]> {
  return (await db.query<NamedRoute>(DELETE, [organizationId, ids])).rows;
}

/** The column of a route that refers to a filter, a schema or a transform. */
export type ReferringColumn = 'filter_id' | 'schema_id' | 'transform_id';

/** How many routes of an organization refer to each of the records. Counted here: every route may refer to one. */
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

// Filters, schemas and transforms are used by routes: counts the routes of a record, and prevents the deletion of one that is in
// use.
// Rules: FLT-14, SCH-07, TFM-12, ERR-26.
import { LockMode } from '@mikro-orm/core';
import { isId } from '../../../core/text/ids.ts';
import { Filter, Route, Schema, Transform } from '../../../db/entities.ts';
import { countRoutesOf, type ReferringColumn } from '../../../db/management/routes.ts';
import type { EntityManager } from '../../../db/orm.ts';
import { ApiError, invalid } from '../../request/errors.ts';

/** The members of a route that refer to a record. */
export type RouteReference = 'filterId' | 'schemaId' | 'transformId';

const SHOWN_ROUTES = 10;

const COLUMNS: Record<RouteReference, ReferringColumn> = {
  filterId: 'filter_id',
  schemaId: 'schema_id',
  transformId: 'transform_id',
};

/** How many routes refer to each of the records of an organization, in one query; `get` of an unused id gives 0. */
export async function routeCounts(
  em: EntityManager,
  member: RouteReference,
  records: readonly { id: string; organizationId: string }[],
): Promise<{ get(id: string): number }> {
  const [first] = records;
  if (first === undefined) return { get: () => 0 };
  const ids = records.map(({ id }) => id);
  const counts = await countRoutesOf(em.fork(), first.organizationId, COLUMNS[member], ids);
  return { get: (id) => counts.get(id) ?? 0 };
}

/**
 * Refuses to delete a record that routes use. Call it with the record's row locked for update, in the transaction that deletes
 * it: a route that is being stored holds a shared lock on its references (`requireReferences`), so either it is seen here, or it
 * finds that the record is gone.
 * @throws ApiError 409 IN_USE naming the routes
 */
export async function requireUnused(
  em: EntityManager,
  member: RouteReference,
  record: { id: string; name: string },
): Promise<void> {
  const [routes, total] = await em.findAndCount(
    Route,
    { [member]: record.id },
    { fields: ['id', 'name'], limit: SHOWN_ROUTES, orderBy: { id: 'asc' } },
  );
  if (total === 0) return;
  const named = routes.map((route) => `${route.name} (${route.id})`).join(', ');
  const others = total > routes.length ? ` and ${total - routes.length} more` : '';
  const what = total === 1 ? 'the route' : `${total} routes:`;
  throw new ApiError(409, 'IN_USE', `${record.name} is used by ${what} ${named}${others}; take it out of there first`);
}

type References = Partial<Record<RouteReference, string | null>>;

/**
 * Requires that the references of a route exist in its organization, and locks them against deletion until the route is stored.
 * @throws ApiError 400 about the member
 */
export async function requireReferences(em: EntityManager, route: References): Promise<void> {
  const lock = { lockMode: LockMode.PESSIMISTIC_READ } as const;
  const { filterId, schemaId, transformId } = route;
  if (typeof filterId === 'string' && !(isId('flt', filterId) && (await em.findOne(Filter, { id: filterId }, lock)))) {
    throw missing('filterId', 'filter');
  }
  if (typeof schemaId === 'string' && !(isId('sch', schemaId) && (await em.findOne(Schema, { id: schemaId }, lock)))) {
    throw missing('schemaId', 'schema');
  }
  if (
    typeof transformId === 'string' &&
    !(isId('tfm', transformId) && (await em.findOne(Transform, { id: transformId }, lock)))
  ) {
    throw missing('transformId', 'transform');
  }
}

function missing(member: RouteReference, kind: string): ApiError {
  return invalid(member, `must be the id of a ${kind} of this organization`);
}

/** Names of all records that these routes refer to, by id, in at most three queries. */
export async function referenceNames(em: EntityManager, routes: References[]): Promise<Map<string, string>> {
  const ids = (member: RouteReference) => [...new Set(routes.flatMap((route) => route[member] ?? []))];
  const find = { fields: ['id', 'name'] } as const;
  const [filterIds, schemaIds, transformIds] = [ids('filterId'), ids('schemaId'), ids('transformId')];
  const found = await Promise.all([
    filterIds.length > 0 ? em.fork().find(Filter, { id: { $in: filterIds } }, find) : [],
    schemaIds.length > 0 ? em.fork().find(Schema, { id: { $in: schemaIds } }, find) : [],
    transformIds.length > 0 ? em.fork().find(Transform, { id: { $in: transformIds } }, find) : [],
  ]);
  return new Map(found.flat().map((record) => [record.id, record.name]));
}

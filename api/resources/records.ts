// What the configuration records have in common: looking one up, unique names, and change under a row lock.
import { LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type IdPrefix, isId } from '../../core/text/ids.ts';
import { Destination, Route, Source } from '../../db/entities.ts';
import { notFound } from '../request/errors.ts';

/** A string that is not an id of this kind cannot be in the database; it is answered like an unknown id. */
export function requireId(kind: string, prefixes: IdPrefix | readonly IdPrefix[], id: string): void {
  if (![prefixes].flat().some((prefix) => isId(prefix, id))) throw notFound(kind, id);
}

/** The id prefixes that a family of paths accepts; other ids are unknown there. */
export type DestinationIds = readonly ('dst' | 'dst_wh')[];
export const everyDestination: DestinationIds = ['dst', 'dst_wh'];
export const httpDestinations: DestinationIds = ['dst'];

/** @throws ApiError 404 */
export async function findSource(em: EntityManager, id: string, lock?: 'lock'): Promise<Source> {
  requireId('source', 'src', id);
  const source = await em.findOne(Source, { id }, lockOptions(lock));
  if (!source) throw notFound('source', id);
  return source;
}

/** @throws ApiError 404 */
export async function findDestination(
  em: EntityManager,
  id: string,
  ids: DestinationIds = everyDestination,
  lock?: 'lock',
): Promise<Destination> {
  requireId('destination', ids, id);
  const destination = await em.findOne(Destination, { id }, lockOptions(lock));
  if (!destination) throw notFound('destination', id);
  return destination;
}

/** @throws ApiError 404 */
export async function findRoute(em: EntityManager, id: string, lock?: 'lock'): Promise<Route> {
  requireId('route', 'rte', id);
  const route = await em.findOne(Route, { id }, lockOptions(lock));
  if (!route) throw notFound('route', id);
  return route;
}

// Concurrent updates of one record queue at its row lock, so that each one sees the result of the one before.
function lockOptions(lock: 'lock' | undefined) {
  return lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {};
}

/** Whether a write failed because another record has the same value of this constraint. */
export function violates(error: unknown, constraint: string): boolean {
  return (
    error instanceof UniqueConstraintViolationException && 'constraint' in error && error.constraint === constraint
  );
}

/** A stored time as the API shows it (HTTP-08). */
export function isoTime(time: Date | null | undefined): string | null {
  return time ? time.toISOString() : null;
}

/** A time until which something is valid, as the API shows it; null when it has passed. */
export function stillValid(until: Date | null | undefined): Date | null {
  return until && until.getTime() > Date.now() ? until : null;
}

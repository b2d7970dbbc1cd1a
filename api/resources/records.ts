// What configuration records have in common: looking one up, versions, transactions, slugs, bulk requests.
import { type EntityName, type FilterQuery, LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import { z } from 'zod';
import { type IdPrefix, isId } from '../../core/text/ids.ts';
import { isSlug, nextFreeSlug, SLUG_PROBLEM, slugify } from '../../core/text/slugs.ts';
import { isWriteConflict } from '../../db/connections/database-errors.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { Destination, Route, Source } from '../../db/records/entities.ts';
import { type SluggedKind, takenSlugs } from '../../db/records/slugs.ts';
import type { EntityManager } from '../../db/records/orm.ts';
import { noteRecords } from '../auth/audit-trail.ts';
import { type Context, entityManager, organizationId, param } from '../request/context.ts';
import { ApiError, invalid, notFound, unavailable } from '../request/errors.ts';
import type { RecordKind } from '../request/operation.ts';
import { containsPattern, pageParams, textParam } from '../request/query.ts';

/** A string that is not an id of this kind cannot be in the database; it is answered like an unknown id. */
export function requireId(kind: string, prefixes: readonly IdPrefix[], id: string): void {
  if (!prefixes.some((prefix) => isId(prefix, id))) throw notFound(kind, id);
}

/** Finds a record by its id, under its lock if wanted. @throws ApiError 404 */
export interface Find<Entity> extends RecordKind<Entity> {
  (em: EntityManager, id: string, lock?: 'lock'): Promise<Entity>;
  kind: string;
}

export function finder<Entity extends object>(
  entity: EntityName<Entity>,
  kind: string,
  ...prefixes: IdPrefix[]
): Find<Entity> {
  const find = async (em: EntityManager, id: string, lock?: 'lock') => {
    requireId(kind, prefixes, id);
    // Concurrent updates of one record queue at its row lock, so that each one sees the result of the one before.
    const options = lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {};
    const found = await em.findOne(entity, { id } as FilterQuery<NoInfer<Entity>>, options);
    if (!found) throw notFound(kind, id);
    return found as Entity;
  };
  return Object.assign(find, { kind, prefixes, ofPath: (ctx: Context) => find(entityManager(ctx), param(ctx, 'id')) });
}

export const findSource = finder(Source, 'source', 'src');
export const findRoute = finder(Route, 'route', 'rte');
export const findDestination = finder(Destination, 'destination', 'dst', 'dst_wh');
export const findHttpDestination = finder(Destination, 'destination', 'dst');
export const findWarehouse = finder(Destination, 'destination', 'dst_wh');

/** Records that a statement of their own reads. */
export function reader<Found>(
  kind: string,
  prefix: IdPrefix,
  find: (pool: Pool, organizationId: string, id: string) => Promise<Found | null>,
): RecordKind<Found> {
  return {
    prefixes: [prefix],
    async ofPath(ctx) {
      const id = param(ctx, 'id');
      requireId(kind, [prefix], id);
      const found = await find(ctx.deps.pool, organizationId(ctx), id);
      if (found === null) throw notFound(kind, id);
      return found;
    },
  };
}

export const searchParams = (columns: string) => ({
  ...pageParams,
  search: textParam.describe(`Matches part of the ${columns}. Case-insensitive.`),
});

/** The condition of such a query. @param columns that hold the text that is searched for */
export function matching(query: { search?: string | undefined; enabled?: boolean | undefined }, ...columns: string[]) {
  const { search, enabled } = query;
  return {
    ...(enabled !== undefined && { enabled }),
    ...(search && { $or: columns.map((column) => ({ [column]: { $ilike: containsPattern(search) } })) }),
  };
}

export function violates(error: unknown, constraint: string): boolean {
  return (
    error instanceof UniqueConstraintViolationException && 'constraint' in error && error.constraint === constraint
  );
}

/** A time until which something is valid, as the API shows it; null when it has passed. */
export function stillValid(until: Date | null | undefined): Date | null {
  return until && until.getTime() > Date.now() ? until : null;
}

// `ETag` and `If-Match`, so that two who change a record at the same time do not overwrite each other (RFC 9110,
// sections 8.8.3 and 13.1.1). The tag is the version of the record, which each change of its members raises.

interface Versioned {
  id: string;
  version: number;
}

// A proxy that compresses answers makes tags weak (`W/"3"`). The tag is of the record and not of its bytes, so these
// count too.
const TAG = /^(?:W\/)?"(\d+)"$/;

export function tell(ctx: Context, { version }: Pick<Versioned, 'version'>): void {
  ctx.set('ETag', `"${version}"`);
}

/** Call it when there is no record. @throws ApiError 412 when `If-Match` names a version of it */
export function requireNoVersion(ctx: Context, kind: string, name: string): void {
  if (ctx.req.headers['if-match'] === undefined) return;
  const message = `There is no ${kind} ${name} for If-Match to match, so nothing was changed; to create the ${kind}, omit the header`;
  throw new ApiError(412, 'PRECONDITION_FAILED', message);
}

/** Call it with the record under its lock. @throws ApiError 412 when `If-Match` names other versions only */
export function requireWanted(ctx: Context, kind: string, { id, version }: Versioned): void {
  const header = ctx.req.headers['if-match'];
  if (header === undefined || header.trim() === '*') return;
  const wanted = header.split(',').map((tag) => TAG.exec(tag.trim())?.[1]);
  if (wanted.includes(String(version))) return;
  throw new ApiError(
    412,
    'PRECONDITION_FAILED',
    `The version of the ${kind} ${id} differs from If-Match, so nothing was changed; get the ${kind} again, apply your change to ` +
      'the current record and send the ETag from that response, including the quotes',
  );
}

// A new record locks its organization and then waits for the slug; a change locks the record that has it, and then the
// organization (raise_config_version). PostgreSQL ends one of the two, which is repeated. So are others that it ends
// for such a reason.
const MOST_CONFLICTS = 3;

/** Runs work in a transaction on the records of the caller's organization. @param work may be called again */
export const transactional = <T>(ctx: Context, work: (em: EntityManager) => Promise<T>): Promise<T> =>
  despiteConflicts(() => entityManager(ctx).transactional(work));

/**
 * Changes a record under its lock, in the version that `If-Match` wants where the operation takes it.
 * @param change may be called again
 * @throws ApiError 404, 412, and what `change` throws
 */
export function changeRecord<Entity extends Versioned>(
  ctx: Context,
  find: Find<Entity>,
  change: (stored: Entity, em: EntityManager) => unknown,
  id = param(ctx, 'id'),
): Promise<Entity> {
  return transactional(ctx, async (em) => {
    const stored = await find(em, id, 'lock');
    if (ctx.method !== 'POST') requireWanted(ctx, find.kind, stored);
    await change(stored, em);
    return stored;
  });
}

/** @param work makes a fresh transaction for each try */
export async function despiteConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let conflicts = 1; ; conflicts += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isWriteConflict(error) || conflicts > MOST_CONFLICTS) throw error;
    }
  }
}

/**
 * Stores a new record under the given slug, or one derived from its name, with a numeric suffix on conflict.
 * @param kind for messages, and the start of the slug of a name without letters
 * @param store is given a fresh unit of work for each try
 * @throws ApiError 409 DUPLICATE_SLUG when the given slug is taken
 */
export async function storeWithSlug<T>(
  ctx: Context,
  kind: SluggedKind,
  { name, slug }: { name: string; slug?: string | undefined },
  store: (em: EntityManager, slug: string) => Promise<T>,
): Promise<T> {
  if (slug !== undefined) return orDuplicateSlug(kind, slug, () => transactional(ctx, (em) => store(em, slug)));
  const base = slugify(name, kind);
  for (;;) {
    const taken = new Set(await takenSlugs(entityManager(ctx), kind, organizationId(ctx), [base]));
    const free = nextFreeSlug(base, (each) => taken.has(each));
    try {
      return await transactional(ctx, (em) => store(em, free));
    } catch (error) {
      // A concurrent request took the slug of this name: try the next one.
      if (!violates(error, slugConstraint(kind))) throw error;
    }
  }
}

export const slugConstraint = (kind: string): string => `${kind}s_slug_unique`;

/** Runs a write that may set a slug. @throws ApiError 409 DUPLICATE_SLUG */
export async function orDuplicateSlug<T>(kind: string, slug: string | undefined, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!violates(error, slugConstraint(kind))) throw error;
    throw new ApiError(409, 'DUPLICATE_SLUG', `A ${kind} with the slug ${slug} already exists; choose another slug`);
  }
}

// `PUT .../by-slug/{slug}`: for programs that say how a record should be, and not whether there is one already.

// Somebody makes the record and deletes it, again and again.
const MAX_ROUNDS = 5;

/** The members used here. MikroORM's types do not accept an entity as a type with fewer members, hence the cast. */
type Slugged = { id: string; slug: string };

interface Ways<Entity> {
  kind: string;
  entity: unknown;
  /** @throws ApiError 409 DUPLICATE_SLUG when somebody else has made it meanwhile */
  create: () => Promise<Entity>;
  /** @throws ApiError 404 when somebody else has deleted it meanwhile */
  replace: (id: string) => Promise<Entity>;
}

/** The slug of the path. @param sent that of the body, which may repeat it @throws ApiError 400 */
export function slugOf(ctx: Context, sent: string | undefined): string {
  const slug = param(ctx, 'slug');
  if (!isSlug(slug)) throw invalid('slug', SLUG_PROBLEM, 'INVALID_SLUG');
  if (sent !== undefined && sent !== slug) throw invalid('slug', `must be ${slug}, as in the path, or omitted`);
  return slug;
}

/** Creates the record of a slug (201), or replaces it (200). */
export async function putBySlug<Entity>(
  ctx: Context,
  slug: string,
  { kind, entity, create, replace }: Ways<Entity>,
): Promise<Entity> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const known = entity as EntityName<Slugged>;
    const found = await entityManager(ctx).findOne(known, { slug }, { fields: ['id'] });
    if (found === null) requireNoVersion(ctx, kind, slug);
    else noteRecords(ctx, [found.id]);
    try {
      const record = await (found === null ? create() : replace(found.id));
      ctx.status = found === null ? 201 : 200;
      return record;
    } catch (error) {
      const overtaken = found === null ? 'DUPLICATE_SLUG' : 'RESOURCE_NOT_FOUND';
      if (!(error instanceof ApiError && error.code === overtaken)) throw error;
    }
  }
  throw unavailable(`The ${kind} ${slug} keeps being created and deleted`);
}

/**
 * The members that differ from the stored ones. PostgreSQL keeps the members of JSON in an order of its own, in which
 * what is sent once more would look changed.
 */
export function changedMembers<Members extends object>(stored: object, members: Members): Partial<Members> {
  const before = stored as Record<string, unknown>;
  const changed = Object.entries(members).filter(([name, value]) => canonical(before[name]) !== canonical(value));
  return Object.fromEntries(changed) as Partial<Members>;
}

/** As JSON with sorted members; what is not there is null. */
function canonical(value: unknown): string {
  const sorted = (_name: string, each: unknown) =>
    isPlainObject(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : each;
  return JSON.stringify(value, sorted) ?? 'null';
}

/** Numbers that no double prints are objects, too (core/numbers). */
const isPlainObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

export const idsOfBulk = z.array(z.string()).min(1).max(100);

// `PUT .../by-slug/{slug}`: for programs that say how a record should be, and not whether there is one already.
// Rules: HTTP-42 to HTTP-44.
import type { EntityName } from '@mikro-orm/core';
import { isSlug, MAX_SLUG_LENGTH } from '../../core/text/slugs.ts';
import { type ApiDeps, type Context, entityManager, param } from '../request/context.ts';
import { noteRecords } from '../auth/audit-trail.ts';
import { ApiError, invalid, unavailable } from '../request/errors.ts';
import { requireNoVersion } from '../request/preconditions.ts';

// Somebody makes the record and deletes it, again and again.
const MAX_ROUNDS = 5;

/** The members used here. MikroORM's types do not accept an entity as a type with fewer members, hence the cast. */
type Slugged = { id: string; slug: string };

interface Ways<Entity> {
  /** For messages: `source`. */
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
  if (!isSlug(slug)) {
    const form = `lowercase letters and digits with single hyphens between, at most ${MAX_SLUG_LENGTH} characters`;
    throw invalid('slug', `must be ${form}`, 'INVALID_SLUG');
  }
  if (sent !== undefined && sent !== slug) throw invalid('slug', `must be ${slug}, as in the path, or left out`);
  return slug;
}

/** Creates the record of a slug (201), or replaces it (200). */
export async function putBySlug<Entity>(
  ctx: Context,
  deps: ApiDeps,
  slug: string,
  { kind, entity, create, replace }: Ways<Entity>,
): Promise<Entity> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const known = entity as EntityName<Slugged>;
    const found = await entityManager(ctx, deps).findOne(known, { slug }, { fields: ['id'] });
    if (found === null) requireNoVersion(ctx, kind, slug);
    else noteRecords(ctx, [found.id]);
    try {
      const record = await (found === null ? create() : replace(found.id));
      ctx.status = found === null ? 201 : 200;
      return record;
    } catch (error) {
      if (!isOvertaken(error, found === null ? 'DUPLICATE_SLUG' : 'RESOURCE_NOT_FOUND')) throw error;
    }
  }
  throw unavailable(`The ${kind} ${slug} keeps being created and deleted`);
}

const isOvertaken = (error: unknown, code: string): boolean => error instanceof ApiError && error.code === code;

/**
 * The members that differ from the stored ones. PostgreSQL keeps the members of JSON in an order of its own, in which what is sent once
 * more would look changed.
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

// Slugs of records, derived from the name when none is given.
// Rules: HTTP-13, ERR-24.
import type { EntityName } from '@mikro-orm/core';
import { nextFreeSlug, slugify } from '../../core/slugs.ts';
import type { Destination, Filter, Schema, Transform } from '../../db/entities.ts';
import type { EntityManager } from '../../db/orm.ts';
import { ApiError } from '../errors.ts';
import { violates } from '../records.ts';
import { despiteConflicts } from './transactions.ts';

/** What makes slugs of a kind of record unique. */
export interface SlugRules {
  /** For messages, and as the slug of a name without Latin letters: `filter`. */
  kind: string;
  entity: typeof Destination | typeof Filter | typeof Schema | typeof Transform;
  /** Name of the unique constraint. */
  constraint: string;
}

/** The members used here. MikroORM's types do not accept an entity as a type with fewer members, hence the cast. */
type Slugged = { id: string; slug: string };

// Slugs that share this many characters may differ only in the numeric suffix.
const COMPARED_LENGTH = 50;

/**
 * Stores a new record under the given slug, or one derived from its name, with a numeric suffix on conflict.
 * @param fork makes a fresh unit of work for each try
 * @throws ApiError 409 DUPLICATE_SLUG when the given slug is taken
 */
export async function storeWithSlug<T>(
  rules: SlugRules,
  input: { name: string; slug?: string },
  fork: () => EntityManager,
  store: (em: EntityManager, slug: string) => Promise<T>,
): Promise<T> {
  const attempt = async () => {
    const em = fork();
    return store(em, input.slug ?? (await freeSlug(rules, em, input.name)));
  };
  for (;;) {
    try {
      return await despiteConflicts(attempt);
    } catch (error) {
      if (!violates(error, rules.constraint)) throw error;
      // A concurrent request took the slug of this name: try the next one.
      if (input.slug !== undefined) throw duplicateSlug(rules, input.slug);
    }
  }
}

async function freeSlug({ entity, kind }: SlugRules, em: EntityManager, name: string): Promise<string> {
  const base = slugify(name, kind);
  const slug = { $like: `${base.slice(0, COMPARED_LENGTH)}%` };
  const taken = await em.find(entity as unknown as EntityName<Slugged>, { slug }, { fields: ['slug'] });
  return nextFreeSlug(base, new Set(taken.map((record) => record.slug)));
}

/**
 * Runs an update that may change the slug.
 * @param update makes a fresh unit of work for each try
 * @throws ApiError 409 DUPLICATE_SLUG
 */
export async function updateWithSlug<T>(
  rules: SlugRules,
  slug: string | undefined,
  update: () => Promise<T>,
): Promise<T> {
  try {
    return await despiteConflicts(update);
  } catch (error) {
    throw violates(error, rules.constraint) ? duplicateSlug(rules, slug ?? '') : error;
  }
}

function duplicateSlug({ kind }: SlugRules, slug: string): ApiError {
  return new ApiError(409, 'DUPLICATE_SLUG', `A ${kind} with the slug ${slug} exists already; choose another`);
}

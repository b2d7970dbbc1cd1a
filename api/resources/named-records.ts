// Filters, schemas and transforms have a name and a slug, and routes name them by id: what their endpoints share.
import { z } from 'zod';
import { nextFreeSlug, slugify } from '../../core/slugs.ts';
import type { EntityManager } from '../../db/orm.ts';
import { ApiError } from '../errors.ts';
import { pageParams } from '../pagination.ts';
import { containsPattern, textParam } from '../query.ts';
import { violates } from '../records.ts';
import * as field from './fields.ts';

/** Members that each of them takes on create; all but the name are optional. */
export const namedMembers = {
  name: field.name,
  slug: field.slug.optional(),
  description: field.description.optional(),
};

export const namedListSchema = z.object({ ...pageParams, search: textParam });

/** Name or slug contains the text, whatever its case; everything when there is none. */
export function searched(search: string | undefined) {
  if (search === undefined) return {};
  const pattern = containsPattern(search);
  return { $or: [{ name: { $ilike: pattern } }, { slug: { $ilike: pattern } }] };
}

/** What the slugs of a kind of record need to be told apart. */
export interface SlugRules {
  /** For messages, and the slug of a name without a Latin letter: `filter`. */
  kind: string;
  /** Name of the unique constraint. */
  constraint: string;
  /** Slugs of the organization that start like this. */
  taken: (em: EntityManager, prefix: string) => Promise<string[]>;
}

// Slugs that share this many characters may differ in the numeric suffix only.
const COMPARED_LENGTH = 50;

/**
 * Stores a new record under the slug that was given, or one made of its name with a numeric suffix on conflict.
 * @param fork makes a fresh unit of work for each try
 * @throws ApiError 409 DUPLICATE_SLUG when the slug that was given is taken
 */
export async function storeWithSlug<T>(
  rules: SlugRules,
  input: { name: string; slug?: string },
  fork: () => EntityManager,
  store: (em: EntityManager, slug: string) => Promise<T>,
): Promise<T> {
  const base = slugify(input.name, rules.kind);
  for (;;) {
    const em = fork();
    const slug = input.slug ?? nextFreeSlug(base, new Set(await rules.taken(em, `${base.slice(0, COMPARED_LENGTH)}%`)));
    try {
      return await store(em, slug);
    } catch (error) {
      if (!violates(error, rules.constraint)) throw error;
      // Another request took the slug of this name at the same moment: the next one is free.
      if (input.slug !== undefined) throw duplicateSlug(rules, slug);
    }
  }
}

/** Runs an update that may change the slug. @throws ApiError 409 DUPLICATE_SLUG */
export async function updateWithSlug<T>(
  rules: SlugRules,
  slug: string | undefined,
  update: () => Promise<T>,
): Promise<T> {
  try {
    return await update();
  } catch (error) {
    throw violates(error, rules.constraint) ? duplicateSlug(rules, slug ?? '') : error;
  }
}

function duplicateSlug({ kind }: SlugRules, slug: string): ApiError {
  return new ApiError(409, 'DUPLICATE_SLUG', `A ${kind} with the slug ${slug} exists already`);
}

// Slugs of records, derived from the name when none is given.
// Rules: HTTP-13, ERR-24.
import { nextFreeSlug, slugify } from '../../core/text/slugs.ts';
import { type SluggedKind, takenSlugs } from '../../db/management/slugs.ts';
import type { EntityManager } from '../../db/orm.ts';
import { ApiError } from '../request/errors.ts';
import { violates } from './records.ts';
import { despiteConflicts } from './transactions.ts';

/** What makes slugs of a kind of record unique. */
export interface SlugRules {
  /** For messages, and at the start of the slug of a name without letters: `filter`. */
  kind: SluggedKind;
  /** Name of the unique constraint. */
  constraint: string;
}

/**
 * Stores a new record under the given slug, or one derived from its name, with a numeric suffix on conflict.
 * @param fork makes a fresh unit of work for each try
 * @throws ApiError 409 DUPLICATE_SLUG when the given slug is taken
 */
export async function storeWithSlug<T>(
  rules: SlugRules,
  input: { organizationId: string; name: string; slug?: string },
  fork: () => EntityManager,
  store: (em: EntityManager, slug: string) => Promise<T>,
): Promise<T> {
  const attempt = async () => {
    const em = fork();
    return store(em, input.slug ?? (await freeSlug(rules.kind, em, input)));
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

async function freeSlug(
  kind: SluggedKind,
  em: EntityManager,
  { organizationId, name }: { organizationId: string; name: string },
): Promise<string> {
  const base = slugify(name, kind);
  const taken = new Set(await takenSlugs(em, kind, organizationId, [base]));
  return nextFreeSlug(base, (slug) => taken.has(slug));
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

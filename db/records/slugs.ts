// Which slugs are taken, and which destinations an import may conflict with. Not by the object mapper: a thousand
// records would hold the event loop.
import type { EntityManager } from './orm.ts';

export type SluggedKind = 'destination' | 'filter' | 'schema' | 'transform';

/**
 * Slugs that share this many characters before their number may be those of one name: what is longer is cut for the
 * number.
 */
const COMPARED_LENGTH = 50;

/**
 * Those of the given slugs that are taken, and those with a number after them: `crm`, `crm-2`. Some others may be among
 * them.
 */
export async function takenSlugs(
  em: EntityManager,
  kind: SluggedKind,
  organizationId: string,
  slugs: readonly string[],
): Promise<string[]> {
  if (slugs.length === 0) return [];
  const wanted = `(select left(value, ${COMPARED_LENGTH}) from json_array_elements_text(?::json) value)`;
  const start = (text: string) => `left(${text}, ${COMPARED_LENGTH})`;
  const rows = await em.execute<{ slug: string }[]>(
    `select slug from ${kind}s where organization_id = ?
     and (${start('slug')} in ${wanted} or ${start("regexp_replace(slug, '-[0-9]+$', '')")} in ${wanted})`,
    [organizationId, JSON.stringify(slugs), JSON.stringify(slugs)],
  );
  return rows.map(({ slug }) => slug);
}

export interface KnownDestination {
  id: string;
  slug: string;
  name: string;
  /** When it was changed last, in ms since 1970. */
  updatedMs: string;
}

const KNOWN = `select id, slug, name, (extract(epoch from updated_at) * 1000)::bigint::text as "updatedMs"
               from destinations where organization_id = ?`;

/** Destinations with one of these slugs or names, in the order of ids. */
export async function knownDestinations(
  em: EntityManager,
  organizationId: string,
  { slugs, names }: { slugs: readonly string[]; names: readonly string[] },
): Promise<KnownDestination[]> {
  return em.execute(
    `${KNOWN} and (slug in (select json_array_elements_text(?::json))
      or name in (select json_array_elements_text(?::json)))
     order by id`,
    [organizationId, JSON.stringify(slugs), JSON.stringify(names)],
  );
}

/**
 * Locks destinations in the order of ids until the end of the transaction. Rows that refer to them may be stored
 * meanwhile, as those of workers that deliver.
 */
export async function lockDestinations(
  em: EntityManager,
  organizationId: string,
  ids: readonly string[],
): Promise<KnownDestination[]> {
  return em.execute(`${KNOWN} and id in (select json_array_elements_text(?::json)) order by id for no key update`, [
    organizationId,
    JSON.stringify(ids),
  ]);
}

// Slugs: the names of records in addresses and export files.
// Rules: HTTP-12.

/** The longest slug, in characters. */
export const MAX_SLUG_LENGTH = 63;

const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Whether a text is a slug: lowercase letters and digits with single hyphens between, at most 63 characters. */
export function isSlug(text: string): boolean {
  return text.length <= MAX_SLUG_LENGTH && SLUG.test(text);
}

/**
 * Makes a slug of a name: accents are dropped, everything else that is no letter or digit becomes a hyphen.
 * @param fallback the slug of a name that has no Latin letter or digit at all
 */
export function slugify(name: string, fallback = 'unnamed'): string {
  const words = name
    .slice(0, 1000)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return words === null ? fallback : cut(words.join('-'), MAX_SLUG_LENGTH);
}

/** The slug itself when it is free, else the first free one with a numeric suffix: `orders`, `orders-2`, `orders-3`. */
export function nextFreeSlug(base: string, taken: ReadonlySet<string>): string {
  if (!taken.has(base)) return base;
  for (let number = 2; ; number += 1) {
    const suffix = `-${number}`;
    const candidate = cut(base, MAX_SLUG_LENGTH - suffix.length) + suffix;
    if (!taken.has(candidate)) return candidate;
  }
}

function cut(slug: string, length: number): string {
  return slug.slice(0, length).replace(/-$/, '');
}

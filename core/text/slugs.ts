// Slugs: what they may be, and how they are made of names.
import { createHash } from 'node:crypto';
import anyAscii from 'any-ascii';

export const MAX_SLUG_LENGTH = 63;

const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const HASH_LENGTH = 10;

export const SLUG_PROBLEM = `must contain only lowercase letters, digits and single hyphens, and start and end with a letter or digit (at most ${MAX_SLUG_LENGTH} characters)`;

/** Whether a text is a slug: lowercase letters and digits with single hyphens between, at most 63 characters. */
export function isSlug(text: string): boolean {
  return text.length <= MAX_SLUG_LENGTH && SLUG.test(text);
}

/**
 * Makes a slug of a name in any script: it is written in Latin letters, and everything else that is no letter or digit
 * becomes a hyphen. Names can share a slug (`Café`, `Cafe`), so a slug that was made of a name does not identify a
 * record.
 * @param kind the start of the slug of a name without any letter or digit; a hash of the name follows
 */
export function slugify(name: string, kind: string): string {
  // NFKC: what looks the same has the same slug, composed or not.
  const text = name.slice(0, 1000).normalize('NFKC');
  const words = anyAscii(text)
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  if (words !== null) return cut(words.join('-'), MAX_SLUG_LENGTH);
  return `${kind}-${createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH)}`;
}

/** The slug itself when it is free, else the first free one with a numeric suffix: `orders`, `orders-2`, `orders-3`. */
export function nextFreeSlug(base: string, isTaken: (slug: string) => boolean): string {
  if (!isTaken(base)) return base;
  for (let number = 2; ; number += 1) {
    const candidate = numbered(base, `-${number}`);
    if (!isTaken(candidate)) return candidate;
  }
}

export function isSlugOf(slug: string, base: string): boolean {
  const [suffix] = /-\d+$/.exec(slug) ?? [];
  return slug === base || (suffix !== undefined && slug === numbered(base, suffix));
}

const numbered = (base: string, suffix: string) => cut(base, MAX_SLUG_LENGTH - suffix.length) + suffix;

function cut(slug: string, length: number): string {
  return slug.slice(0, length).replace(/-$/, '');
}

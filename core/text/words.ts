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

/** `1 delivery`, `12 deliveries`; with a verb: `plural(count, 'delivery was', 'deliveries were')`. */
export function plural(count: number, one: string, many = pluralOf(one)): string {
  return `${count} ${count === 1 ? one : many}`;
}

export const pluralOf = (one: string): string =>
  /(?:[sx]|ch)$/.test(one) ? `${one}es` : `${one.replace(/([^aeiou])y$/, '$1ie')}s`;

// Longer than any known name; the time taken grows with the square of it.
const MAX_LENGTH = 64;

/** The most similar known name, or null when none is similar. Case, underscores and hyphens make no difference. */
export function nearestName(name: string, known: readonly string[]): string | null {
  const wanted = normal(name);
  if (wanted === '' || wanted.length > MAX_LENGTH) return null;
  let best: { candidate: string; distance: number } | null = null;
  for (const candidate of known) {
    const distance = distanceBetween(wanted, normal(candidate));
    if (distance < (best?.distance ?? Infinity)) best = { candidate, distance };
  }
  if (best && best.distance <= Math.max(1, Math.floor(wanted.length / 3))) return best.candidate;
  // `source` for `sourceId`, `size` for `pageSize`, `maxRetry` for `maxRetries`.
  const part = wanted.length < 6 ? wanted : wanted.slice(0, -2);
  return part.length < 3 ? null : (known.find((candidate) => normal(candidate).includes(part)) ?? null);
}

const normal = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '');

/** How many letters are added, left out, replaced, or exchanged with their neighbour (optimal string alignment). */
function distanceBetween(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isExchanged = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(
        Math.min(
          (last[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (last[column - 1] ?? 0) + (isSame ? 0 : 1),
          isExchanged ? (beforeLast[column - 2] ?? 0) + 1 : Infinity,
        ),
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[b.length] ?? 0;
}

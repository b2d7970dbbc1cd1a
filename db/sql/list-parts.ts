// Parts of lists: pages, and what follows a cursor. One rule of every list that grows: its total is exact up to
// MOST_COUNTED rows.
import type { Queryable } from '../connections/pool.ts';
import { type Fragment, raw, sql } from '../connections/statements.ts';

/**
 * Counting stops there, so that no list costs more than reading an index for some milliseconds. Pages begin before it.
 */
export const MOST_COUNTED = 100_000;

/** What is asked of a list: a page, or what comes after a cursor. */
export type Part =
  | { limit: number; offset: number }
  /** `after`: a cursor, or null for the newest. `withTotal`: whether to count too. */
  | { limit: number; after: string | null; withTotal: boolean };

export interface Total {
  /** Null: it was not asked for. */
  total: number | null;
  /** Whether it is the number of rows, and not an estimate. */
  totalIsExact: boolean;
}

export interface Found extends Total {
  ids: string[];
  /** Where the next part begins; null: at the end, or for a page. */
  next: string | null;
  /** The time was over: everything made from then on was looked at. */
  searchedUntil: Date | null;
}

/** Thrown for a page that begins beyond MOST_COUNTED rows. */
export class PageTooDeepError extends Error {
  override readonly name = 'PageTooDeepError';
  constructor() {
    super(`The page starts after the first ${MOST_COUNTED} rows`);
  }
}

export interface Reader<Item> {
  /** Exact up to MOST_COUNTED. */
  total: () => Promise<number>;
  /** Newest first. @param after a cursor, or null for the newest */
  items: (after: string | null, limit: number, offset: number) => Promise<Item[]>;
  cursorOf: (item: Item) => string;
}

/**
 * Counts rows, at most one more than MOST_COUNTED.
 * @param matching a statement from its `from` on
 */
export async function countMatching(db: Queryable, matching: Fragment): Promise<number> {
  return sql(db).value<number>`
    select count(*)::float8 from (select ${matching} limit ${raw(MOST_COUNTED + 1)}) counted`;
}

/** @throws PageTooDeepError */
export async function readPart<Item>(part: Part, { total, items, cursorOf }: Reader<Item>) {
  const isCounting = 'offset' in part || part.withTotal;
  const counted = isCounting ? await total() : null;
  const found: Total = { total: counted, totalIsExact: (counted ?? 0) <= MOST_COUNTED };
  if ('offset' in part) {
    if (part.offset >= MOST_COUNTED && !found.totalIsExact) throw new PageTooDeepError();
    return { ...found, items: await items(null, part.limit, part.offset), next: null, searchedUntil: null };
  }
  const { after, limit } = part;
  // One more shows whether there are more.
  const read = await items(after, limit + 1, 0);
  const shown = read.slice(0, limit);
  const last = shown.at(-1);
  const next = read.length > limit && last !== undefined ? cursorOf(last) : null;
  return { ...found, items: shown, next, searchedUntil: null };
}

// Parts of lists: pages, and what follows a cursor.

/** What is asked of a list: a page, or what comes after a cursor. */
export type Part =
  | { limit: number; offset: number }
  /** `after`: a cursor, or null for the newest. `withTotal`: whether to count too. */
  | { limit: number; after: string | null; withTotal: boolean };

export interface Found {
  ids: string[];
  /** Null: it was not asked for. */
  total: number | null;
  /** Where the next part begins; null: at the end, or for a page. */
  next: string | null;
  /** The time was over: everything made from then on was looked at. */
  searchedUntil: Date | null;
}

/** How a list is read whose rows are few, or found by an index. */
export interface Reader<Item> {
  total: () => Promise<number>;
  /** Newest first. @param after a cursor, or null for the newest */
  items: (after: string | null, limit: number, offset: number) => Promise<Item[]>;
  cursorOf: (item: Item) => string;
}

export async function readPart<Item>(part: Part, { total, items, cursorOf }: Reader<Item>) {
  if ('offset' in part) {
    return { items: await items(null, part.limit, part.offset), total: await total(), next: null, searchedUntil: null };
  }
  const { after, limit, withTotal } = part;
  // One more shows whether there are more.
  const found = await items(after, limit + 1, 0);
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown,
    total: withTotal ? await total() : null,
    next: found.length > limit && last !== undefined ? cursorOf(last) : null,
    searchedUntil: null,
  };
}

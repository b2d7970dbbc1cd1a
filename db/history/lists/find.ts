// Lists of events and deliveries, newest first: pages, and what comes after a row. Ids are in the order of time, so what is stored
// meanwhile shifts nothing after a cursor.
import type { Queryable } from '../../connections/pool.ts';
import { cursorAt, searchNewest, searchPage } from '../search.ts';
import type { Selection } from '../selection.ts';
import { countIndexed, estimateIndexed, prepare, readIndexed } from './indexed.ts';
import { type Found, MOST_COUNTED, PageTooDeepError, type Part } from './part.ts';

/**
 * Finds a part of a list.
 * @param db one snapshot
 * @param forMs how long what follows a cursor may be searched for
 * @throws SearchTooBroadError where a page cannot be found in time; PageTooDeepError
 */
export async function findPart(db: Queryable, selection: Selection, part: Part, forMs: number): Promise<Found> {
  const { isOwn, isIndexed } = await prepare(db, selection);
  const isCounting = 'offset' in part || part.withTotal;
  if (!isOwn) return { ids: [], total: isCounting ? 0 : null, totalIsExact: true, next: null, searchedUntil: null };
  const paged = isIndexed ? indexedPage : searchPage;
  if ('offset' in part) return { ...(await paged(db, selection, part)), next: null, searchedUntil: null };
  const { after, limit, withTotal } = part;
  const { total, totalIsExact } = withTotal
    ? await paged(db, selection, { limit: 0, offset: 0 })
    : { total: null, totalIsExact: true };
  const rest = { ...selection, ...(after !== null && { before: after }) };
  // One more shows whether there are more.
  const most = limit + 1;
  const { ids, searchedFrom } = isIndexed
    ? { ids: await readIndexed(db, rest, { limit: most, offset: 0 }), searchedFrom: null }
    : await searchNewest(db, rest, most, forMs);
  const shown = ids.slice(0, limit);
  const found = { ids: shown, total, totalIsExact };
  if (ids.length > limit) return { ...found, next: shown.at(-1) ?? null, searchedUntil: null };
  if (searchedFrom === null) return { ...found, next: null, searchedUntil: null };
  return { ...found, next: cursorAt(selection, searchedFrom), searchedUntil: new Date(searchedFrom) };
}

async function indexedPage(db: Queryable, selection: Selection, { limit, offset }: { limit: number; offset: number }) {
  const counted = await countIndexed(db, selection);
  const totalIsExact = counted <= MOST_COUNTED;
  if (offset >= MOST_COUNTED && !totalIsExact) throw new PageTooDeepError();
  const ids = limit === 0 || offset >= counted ? [] : await readIndexed(db, selection, { limit, offset });
  const total = totalIsExact ? counted : Math.max(counted, await estimateIndexed(db, selection));
  return { ids, total, totalIsExact };
}

// Lists by cursor: what comes after a row, newest first. Ids are in the order of time, so what is stored meanwhile shifts nothing.
import type { Queryable } from '../../connections/pool.ts';
import { findNewest } from './newest.ts';
import { findPage } from './page.ts';
import type { Found, Part } from './part.ts';
import { cursorAt, searchNewest, searchPage } from '../search.ts';
import { isCounted, type Selection } from '../selection.ts';

/**
 * Finds a part of a list.
 * @param db one snapshot
 * @param forMs how long what follows a cursor may be searched for
 * @throws SearchTooBroadError where a total cannot be found in time
 */
export async function findPart(db: Queryable, selection: Selection, part: Part, forMs: number): Promise<Found> {
  const paged = isCounted(selection) ? findPage : searchPage;
  if ('offset' in part) return { ...(await paged(db, selection, part)), next: null, searchedUntil: null };
  const { after, limit, withTotal } = part;
  // One more shows whether there are more.
  const most = limit + 1;
  if (withTotal && after === null && isCounted(selection)) {
    // What counts them finds the first ones too.
    const { ids, total } = await findPage(db, selection, { limit: most, offset: 0 });
    const shown = ids.slice(0, limit);
    return { ids: shown, total, next: ids.length > limit ? (shown.at(-1) ?? null) : null, searchedUntil: null };
  }
  const total = withTotal ? (await paged(db, selection, { limit: 0, offset: 0 })).total : null;
  const rest = { ...selection, ...(after !== null && { before: after }) };
  const { ids, searchedFrom } = isCounted(selection)
    ? { ids: await findNewest(db, rest, most), searchedFrom: null }
    : await searchNewest(db, rest, most, forMs);
  const shown = ids.slice(0, limit);
  if (ids.length > limit) return { ids: shown, total, next: shown.at(-1) ?? null, searchedUntil: null };
  if (searchedFrom === null) return { ids: shown, total, next: null, searchedUntil: null };
  return { ids: shown, total, next: cursorAt(selection, searchedFrom), searchedUntil: new Date(searchedFrom) };
}

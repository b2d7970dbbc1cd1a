// The newest rows of a selection, without counting what is not settled: hours in which none matches are left out.
import type { Queryable } from '../../connections/pool.ts';
import { countStretches, readIds, refine } from './page.ts';
import { isUnfiltered, rangeOfSelection, type Selection } from '../selection.ts';

/** The newest ids of a selection that the counts tell all of. */
export async function findNewest(db: Queryable, selection: Selection, most: number): Promise<string[]> {
  // Every row matches, so there is nothing to pass over.
  if (isUnfiltered(selection)) {
    return readIds(db, selection, [{ ...rangeOfSelection(selection), total: 0 }], { limit: most, offset: 0 });
  }
  const ids: string[] = [];
  let stretches = await countStretches(db, selection, 'uncounted');
  while (stretches.length > 0 && ids.length < most) {
    const some = enough(stretches, most - ids.length);
    stretches = stretches.slice(some.length);
    let pieces = await refine(db, selection, some);
    while (pieces.length > 0 && ids.length < most) {
      const read = enough(pieces, most - ids.length);
      pieces = pieces.slice(read.length);
      ids.push(...(await readIds(db, selection, read, { limit: most - ids.length, offset: 0 })));
    }
  }
  return ids;
}

/** The first of them that have so many rows together, if they have. */
function enough<T extends { total: number }>(parts: T[], most: number): T[] {
  let total = 0;
  const last = parts.findIndex((part) => {
    total += part.total;
    return total >= most;
  });
  return last === -1 ? parts : parts.slice(0, last + 1);
}

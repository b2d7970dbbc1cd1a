// Splits a list's time range into settled whole days and hours, whose counts are known, and the rest (the edges and the unsettled
// part), which is counted row by row (db/schema/07-counts.sql). Pure; all times in ms since 1970, UTC.

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** A range of time; the end is not part of it. */
export interface Range {
  from: number;
  to: number;
}

export interface Cut {
  /** Ranges counted row by row: at most an hour at each edge, and everything unsettled. */
  rows: Range[];
  days: Range[];
  hours: Range[];
}

/**
 * @param range what is listed; `to` may be Infinity
 * @param settledBefore where the settled part ends: its last hour and its last day are counted up to there
 */
export function cutRange({ from, to }: Range, settledBefore: number): Cut {
  const first = ceil(from, HOUR_MS);
  const end = to >= settledBefore ? settledBefore : floor(to, HOUR_MS);
  if (first >= end) return { rows: ranges([from, to]), days: [], hours: [] };
  const firstDay = ceil(first, DAY_MS);
  const endOfDays = end === settledBefore ? settledBefore : floor(end, DAY_MS);
  const rows = ranges([from, first], [end, to]);
  if (firstDay >= endOfDays) return { rows, days: [], hours: ranges([first, end]) };
  return { rows, days: ranges([firstDay, endOfDays]), hours: ranges([first, firstDay], [endOfDays, end]) };
}

const floor = (ms: number, width: number): number => Math.floor(ms / width) * width;
const ceil = (ms: number, width: number): number => Math.ceil(ms / width) * width;

function ranges(...pairs: [from: number, to: number][]): Range[] {
  return pairs.filter(([from, to]) => from < to).map(([from, to]) => ({ from, to }));
}

/** A part of a list with the number of its matching rows. */
export interface Stretch extends Range {
  total: number;
}

/**
 * Finds the part of a list that a page is cut from.
 * @param stretches newest first, without overlaps
 * @returns the stretches the page has rows of, and how many rows of them come before the page
 */
export function stretchesOfPage<T extends { total: number }>(
  stretches: T[],
  { limit, offset }: { limit: number; offset: number },
): { within: T[]; skip: number } {
  const within: T[] = [];
  let before = 0;
  let skip = 0;
  for (const stretch of stretches) {
    if (before >= offset + limit) break;
    if (before + stretch.total > offset) {
      if (within.length === 0) skip = offset - before;
      within.push(stretch);
    }
    before += stretch.total;
  }
  return { within, skip };
}

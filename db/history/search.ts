// Filters that no count tells (a text in payloads or errors, a status code, the route of an event). There is no index for them,
// because it would make storing every webhook, or recording every attempt, more expensive. So rows are read, newest first, for a
// limited time. A page is exact, or an error says how far the search came; after a cursor, the answer itself says it.
import { idFloor } from '../../core/ids.ts';
import type { Queryable } from '../connections/pool.ts';
import type { Range, Stretch } from './lists/cut.ts';
import { eventsByDeliveries } from './events-by-deliveries.ts';
import { countStretches, type Piece, readIds, refine } from './lists/page.ts';
import { isUnfiltered, KINDS, Parameters, rowMatches, rowsOf, type Selection } from './selection.ts';

/** How long a search for a page may read, ms; a running step is completed. */
export const SEARCH_MS = 5000;
/** Rows that one statement reads: of a page, and after a cursor. */
const ROWS_PER_PAGE_STEP = 10_000;
const ROWS_PER_NEXT_STEP = 2000;
const HOUR_MS = 3_600_000;

/** Thrown when a search cannot read all rows in its time. */
export class SearchTooBroadError extends Error {
  override readonly name = 'SearchTooBroadError';
  /** Everything from this time on was searched. */
  readonly searchedFrom: Date;
  /** Matches found so far. */
  readonly found: number;
  constructor(searchedFrom: Date, found: number) {
    super(`The search came no further back than ${searchedFrom.toISOString()}`);
    this.searchedFrom = searchedFrom;
    this.found = found;
  }
}

/** Start and end of a part of what matches, newest first. */
export interface Wanted {
  first: number;
  end: number;
}

/** A part of a search. */
export interface Step {
  /** After it, everything made from this time on was looked at, ms. */
  from: number;
  /** Counts what matches, and gives the wanted ids. */
  count: (wanted: Wanted) => Promise<{ ids: string[]; total: number }>;
  /** The newest ids that match. */
  newest: (limit: number) => Promise<string[]>;
}

/**
 * Counts the rows of a selection, and finds the ids of one page, newest first.
 * @param db one snapshot
 * @param forMs starts no further step after this time
 * @throws SearchTooBroadError
 */
export async function searchPage(
  db: Queryable,
  selection: Selection,
  { limit, offset }: { limit: number; offset: number },
  forMs: number = SEARCH_MS,
): Promise<{ ids: string[]; total: number }> {
  const giveUpAt = performance.now() + forMs;
  const ids: string[] = [];
  let total = 0;
  let searchedFrom: Date | undefined;
  for await (const step of stepsOf(db, selection, ROWS_PER_PAGE_STEP, Infinity)) {
    if (searchedFrom && performance.now() > giveUpAt) throw new SearchTooBroadError(searchedFrom, total);
    const found = await step.count({ first: place(offset - total), end: place(offset + limit - total) });
    ids.push(...found.ids);
    total += found.total;
    searchedFrom = new Date(step.from);
  }
  return { ids, total };
}

/** A place in what one step finds, which is far less than an integer of PostgreSQL can hold. */
const place = (n: number): number => Math.min(Math.max(0, n), 2 ** 30);

/**
 * Finds the newest ids of a selection.
 * @param forMs starts no further step after this time
 * @returns `searchedFrom`: the time was over; everything from then on was searched, ms
 */
export async function searchNewest(
  db: Queryable,
  selection: Selection,
  limit: number,
  forMs: number,
): Promise<{ ids: string[]; searchedFrom: number | null }> {
  const giveUpAt = performance.now() + forMs;
  const ids: string[] = [];
  let searchedFrom: number | null = null;
  // What is filtered lies among rows that do not match: no more than an hour at a time.
  const span = isUnfiltered(selection) ? Infinity : HOUR_MS;
  for await (const step of stepsOf(db, selection, ROWS_PER_NEXT_STEP, span)) {
    if (ids.length >= limit) break;
    if (searchedFrom !== null && performance.now() > giveUpAt) return { ids, searchedFrom };
    ids.push(...(await step.newest(limit - ids.length)));
    searchedFrom = step.from;
  }
  return { ids, searchedFrom: null };
}

function stepsOf(db: Queryable, selection: Selection, rows: number, spanMs: number): AsyncGenerator<Step> {
  return selection.delivered ? eventsByDeliveries(db, selection, rows) : throughRows(db, selection, rows, spanMs);
}

/** Through the rows that the counts cannot rule out: hours in which none matches are left out. */
async function* throughRows(db: Queryable, selection: Selection, most: number, spanMs: number): AsyncGenerator<Step> {
  let step: Piece | undefined;
  for (const stretch of await countStretches(db, selection)) {
    for (const piece of (await refine(db, selection, [stretch])).flatMap((whole) => cut(whole, most))) {
      if (step && isOneStep(step, piece, most, spanMs)) {
        step = { from: piece.from, to: step.to, total: step.total + piece.total };
      } else {
        if (step) yield stepOf(db, selection, step);
        step = piece;
      }
    }
  }
  if (step) yield stepOf(db, selection, step);
}

function isOneStep(newer: Stretch, older: Stretch, most: number, spanMs: number): boolean {
  return newer.from === older.to && newer.total + older.total <= most && newer.to - older.from <= spanMs;
}

/** Cuts a piece with many rows into parts of its time, newest first. */
function cut(piece: Piece, most: number): Piece[] {
  const parts = Math.ceil(piece.total / most);
  const end = Math.min(piece.to, Math.max(Date.now(), piece.from));
  const width = Math.floor((end - piece.from) / parts);
  if (parts < 2 || width < 1) return [piece];
  return Array.from({ length: parts }, (_, n) => ({
    ...piece,
    from: n === parts - 1 ? piece.from : end - (n + 1) * width,
    to: n === 0 ? piece.to : end - n * width,
    total: piece.total / parts,
  }));
}

function stepOf(db: Queryable, selection: Selection, piece: Piece): Step {
  return {
    from: piece.from,
    count: (wanted) => countIn(db, selection, piece, wanted),
    newest: (limit) => readIds(db, selection, [piece], { limit, offset: 0 }),
  };
}

async function countIn(
  db: Queryable,
  selection: Selection,
  range: Range,
  wanted: Wanted,
): Promise<{ ids: string[]; total: number }> {
  const query = new Parameters();
  const first = query.add(wanted.first + 1);
  const end = query.add(wanted.end);
  const { rows } = await db.query<{ ids: string[] | null; total: number }>(
    `select count(*) as total, (array_agg(r.id order by r.id desc))[${first}::int:${end}::int] as ids
     from ${rowsOf(selection)} where ${rowMatches(query, selection, range)}`,
    query.values,
  );
  return { ids: rows[0]?.ids ?? [], total: rows[0]?.total ?? 0 };
}

/** A cursor from which a search continues. */
export const cursorAt = ({ kind }: Selection, ms: number): string => idFloor(KINDS[kind].prefix, ms);

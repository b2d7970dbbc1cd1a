// Lists whose filters no index tells (a status, a route, a text in payloads or errors). Such an index would make storing every webhook,
// or recording every attempt, more expensive. So the rows of an index are read in steps, newest first: for a page until it is full, and
// for a total until MOST_COUNTED rows were read. What follows a cursor is searched for a limited time, and the answer says how far.
// Rules: LIST-11, LIST-12, ERR-16.
import { isOpenStatus } from '../../core/delivery/delivery.ts';
import { idFloor } from '../../core/text/ids.ts';
import type { Queryable } from '../connections/pool.ts';
import { openOf } from '../delivery/open-deliveries.ts';
import { deliveriesOf, eventsByDeliveries, stepAmong } from './events-by-deliveries.ts';
import { estimateIndexed, newestRange } from './lists/indexed.ts';
import { MOST_COUNTED, PageTooDeepError } from './lists/part.ts';
import { KINDS, Parameters, type Range, rangeOfSelection, rowMatches, rowsOf, type Selection } from './selection.ts';

/** How long a search for a page may read, ms; a running step is completed. */
export const SEARCH_MS = 5000;
/** How long a total may be counted on after the page was found, ms: payloads take longer to read than rows. */
const COUNT_MS = 1000;
/** Rows of a step, of a page and after a cursor. The first step is small: mostly it has all that is wanted. */
const ROWS_PER_PAGE_STEP = 20_000;
const ROWS_PER_NEXT_STEP = 2000;
export const FIRST_ROWS = 200;
const GROWTH = 8;
/** Open deliveries that are looked up one by one. */
const MOST_OPEN = 20_000;

/** Thrown when a page is not found in time. */
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
  /** How many rows it reads. */
  rows: number;
  /** Counts what matches, and gives the wanted ids. */
  count: (wanted: Wanted) => Promise<{ ids: string[]; total: number }>;
  /** The newest ids that match. */
  newest: (limit: number) => Promise<string[]>;
}

/**
 * Counts the rows of a selection, and finds the ids of one page, newest first.
 * @param db one snapshot
 * @param forMs starts no further step for the page after this time
 * @throws SearchTooBroadError, PageTooDeepError
 */
export async function searchPage(
  db: Queryable,
  selection: Selection,
  { limit, offset }: { limit: number; offset: number },
  forMs: number = SEARCH_MS,
): Promise<{ ids: string[]; total: number; totalIsExact: boolean }> {
  const began = performance.now();
  const ids: string[] = [];
  let total = 0;
  let read = 0;
  let reached: number | undefined;
  for await (const step of stepsOf(db, selection, ROWS_PER_PAGE_STEP)) {
    const ms = performance.now() - began;
    if (offset >= MOST_COUNTED && total > MOST_COUNTED) throw new PageTooDeepError();
    if (
      total >= offset + limit &&
      (read >= MOST_COUNTED || (reached !== undefined && ms > Math.min(COUNT_MS, forMs)))
    ) {
      const rows = await estimateIndexed(db, selection.delivered ? deliveriesOf(selection) : selection);
      return { ids, total: Math.max(total, Math.round((total / Math.max(1, read)) * rows)), totalIsExact: false };
    }
    if (reached !== undefined && ms > forMs) throw new SearchTooBroadError(new Date(reached), total);
    const found = await step.count({ first: place(offset - total), end: place(offset + limit - total) });
    ids.push(...found.ids);
    total += found.total;
    read += step.rows;
    reached = step.from;
  }
  return { ids, total, totalIsExact: true };
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
  for await (const step of stepsOf(db, selection, ROWS_PER_NEXT_STEP)) {
    if (ids.length >= limit) break;
    if (searchedFrom !== null && performance.now() > giveUpAt) return { ids, searchedFrom };
    ids.push(...(await step.newest(limit - ids.length)));
    searchedFrom = step.from;
  }
  return { ids, searchedFrom: null };
}

function stepsOf(db: Queryable, selection: Selection, rows: number): AsyncGenerator<Step> {
  if (selection.delivered) return eventsByDeliveries(db, selection, rows);
  return isOpen(selection) ? amongOpen(db, selection, rows) : throughRows(db, selection, rows);
}

/** Whether it has only open deliveries: mostly few among millions that have ended. */
const isOpen = ({ kind, where: { status } }: Selection): boolean =>
  kind === 'delivery' && status !== undefined && [status].flat().every(isOpenStatus);

/** In their own tables, unless there are very many: then the newest rows have enough of them. */
async function* amongOpen(db: Queryable, selection: Selection, most: number): AsyncGenerator<Step> {
  const ids = await openOf(db, selection.organizationId, MOST_OPEN + 1);
  if (ids.length > MOST_OPEN) yield* throughRows(db, selection, most);
  else yield stepAmong(db, selection, { ...rangeOfSelection(selection), rows: ids.length }, ids);
}

async function* throughRows(db: Queryable, selection: Selection, most: number): AsyncGenerator<Step> {
  const { from: first, to: last } = rangeOfSelection(selection);
  let rows = Math.min(most, FIRST_ROWS);
  for (let to = last; to > first; ) {
    const range = await newestRange(db, selection, { from: first, to }, rows);
    yield {
      from: range.from,
      rows: range.rows,
      count: (wanted) => countIn(db, selection, range, wanted),
      newest: (limit) => newestIn(db, selection, range, limit),
    };
    to = range.from;
    rows = Math.min(most, rows * GROWTH);
  }
}

async function newestIn(db: Queryable, selection: Selection, range: Range, limit: number): Promise<string[]> {
  const query = new Parameters();
  const { rows } = await db.query<{ id: string }>(
    `select r.id from ${rowsOf(selection)} where ${rowMatches(query, selection, range)}
     order by r.id desc limit ${query.add(limit)}`,
    query.values,
  );
  return rows.map(({ id }) => id);
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

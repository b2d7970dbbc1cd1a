// Lists whose filters no index tells (a status, a route, a text in payloads or errors). Such an index would make
// storing every webhook, or recording every attempt, more expensive. So the rows of an index are read in steps, newest
// first: for a page until it is full, and for a total all of them, or SAMPLE rows when there are more than
// MOST_COUNTED. What follows a cursor is searched for a limited time, and the answer says how far. Open deliveries and
// what failed are few among millions, and are read where only such rows are.
import { isOpenStatus } from '../../core/delivery/delivery.ts';
import { idFloor, idTime } from '../../core/text/ids.ts';
import type { Queryable } from '../connections/pool.ts';
import { openOf } from '../delivery/delivery-commands.ts';
import {
  estimateIndexed,
  newestRange,
  KINDS,
  madeIn,
  type Range,
  rangeOfSelection,
  rowMatches,
  rowsOf,
  type Selection,
  prepare,
  type RowRange,
  matches,
  countIndexed,
  readIndexed,
} from './selection.ts';
import { MOST_COUNTED, PageTooDeepError, type Found, type Part, readPart } from '../sql/list-parts.ts';
import { deliveriesFrom } from '../sql/rules.ts';
import { raw, sql } from '../connections/statements.ts';

/** How long a search for a page may read, ms; a running step is completed. */
export const SEARCH_MS = 5000;
/** How long a total may be counted on after the page was found, ms: payloads take longer to read than rows. */
const COUNT_MS = 1000;
/**
 * Rows whose share of matches tells a total that cannot be counted, because more than MOST_COUNTED rows would be read.
 */
const SAMPLE = 10_000;
/** Rows of a step, of a page and after a cursor. The first step is small: mostly it has all that is wanted. */
const ROWS_PER_PAGE_STEP = 20_000;
const ROWS_PER_NEXT_STEP = 2000;
const FIRST_ROWS = 200;
const GROWTH = 8;
/** Open deliveries that are looked up one by one. */
const MOST_OPEN = 20_000;

/** Thrown when a page is not found in time. */
export class SearchTooBroadError extends Error {
  override readonly name = 'SearchTooBroadError';
  readonly searchedFrom: Date;
  readonly found: number;
  constructor(searchedFrom: Date, found: number) {
    super(`The search stopped at ${searchedFrom.toISOString()}`);
    this.searchedFrom = searchedFrom;
    this.found = found;
  }
}

export interface Wanted {
  first: number;
  end: number;
}

export interface Step {
  /** After it, everything made from this time on was looked at, ms. */
  from: number;
  rows: number;
  count: (wanted: Wanted) => Promise<{ ids: string[]; total: number }>;
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
  let rows: number | undefined;
  for await (const step of stepsOf(db, selection, ROWS_PER_PAGE_STEP)) {
    const ms = performance.now() - began;
    if (offset >= MOST_COUNTED && total > MOST_COUNTED) throw new PageTooDeepError();
    const isLate = reached !== undefined && ms > Math.min(COUNT_MS, forMs);
    if (total >= offset + limit && (isLate || read >= SAMPLE)) {
      rows ??= await estimateIndexed(db, selection.delivered ? deliveriesOf(selection) : selection);
    }
    if (rows !== undefined && (isLate || rows > MOST_COUNTED)) {
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

const place = (n: number): number => Math.min(Math.max(0, n), 2 ** 30);

/**
 * Finds the newest ids of a selection.
 * @param forMs starts no further step after this time
 * @returns `searchedFrom`: the time was over; everything from then on was searched, ms
 */
async function searchNewest(
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
const isOpen = ({ where: { status } }: Selection): boolean =>
  status !== undefined && [status].flat().every(isOpenStatus);

/** In their own tables, unless there are very many: then the newest rows have enough of them. */
async function* amongOpen(db: Queryable, selection: Selection, most: number): AsyncGenerator<Step> {
  const ids = await openOf(db, selection.organizationId, MOST_OPEN + 1);
  if (ids.length > MOST_OPEN) yield* throughRows(db, selection, most);
  else {
    const candidates = selection.kind === 'event' ? await eventsOf(db, ids) : ids;
    yield stepAmong(db, selection, { ...rangeOfSelection(selection), rows: candidates.length }, candidates);
  }
}

/** A pending event has an open delivery. */
async function eventsOf(db: Queryable, deliveryIds: string[]): Promise<string[]> {
  return sql(db).column`
    select distinct d.event_id as id from unnest(${deliveryIds}::text[]) as w(id) cross join lateral (
      select event_id from deliveries where id = w.id collate "C" offset 0
    ) d`;
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

function newestIn(db: Queryable, selection: Selection, range: Range, limit: number): Promise<string[]> {
  return sql(db).column`
    select r.id from ${rowsOf(selection)} where ${rowMatches(selection, range)} order by r.id desc limit ${limit}`;
}

async function countIn(
  db: Queryable,
  selection: Selection,
  range: Range,
  { first, end }: Wanted,
): Promise<{ ids: string[]; total: number }> {
  const { ids, total } = await sql(db).only<{ ids: string[] | null; total: number }>`
    select count(*) as total, (array_agg(r.id order by r.id desc))[${first + 1}::int:${end}::int] as ids
    from ${rowsOf(selection)} where ${rowMatches(selection, range)}`;
  return { ids: ids ?? [], total };
}

const cursorAt = ({ kind }: Selection, ms: number): string => idFloor(KINDS[kind].prefix, ms);

// Events by where they were delivered. A delivery made with its event has an id of the same second or so, so these
// events are found in the order of the deliveries to a destination. The others (replays, failovers) are few, and have
// indexes (deliveries_apart_by_...).

/** The width of the eighth character of an id (core/text/ids.ts), ms. */
const SLOT_MS = 1024;
const slotEnd = (ms: number): number => Math.ceil(ms / SLOT_MS) * SLOT_MS;

/** Whether a delivery `r` was not made together with its event; the indexes deliveries_apart_by_... have these. */
const APART = raw('substr(r.id, 5, 8) <> substr(r.event_id, 5, 8)');

const deliveriesOf = ({ organizationId, where, delivered, from, to }: Selection): Selection => ({
  kind: 'delivery',
  organizationId,
  from,
  to,
  where: { ...delivered, source_id: where.source_id },
});

/**
 * Goes through the events of a selection with `delivered`, newest first.
 * @param rows how many deliveries one step reads
 */
async function* eventsByDeliveries(db: Queryable, selection: Selection, rows: number): AsyncGenerator<Step> {
  const deliveries = deliveriesOf(selection);
  const { from: first, to: last } = rangeOfSelection(selection);
  let end = (await prepare(db, deliveries)).isOwn ? last : first;
  // The first step is small: mostly it has all that a part of a list needs.
  let most = Math.min(rows, FIRST_ROWS);
  while (end > first) {
    const around = { from: first - (first % SLOT_MS), to: slotEnd(end) };
    // Whole slots: what was made together with an event of a slot is in the same one.
    const range = await newestRange(db, deliveries, around, most, SLOT_MS);
    const reached = Math.max(first, range.from);
    const apart = await eventsApart(db, deliveries, { from: reached, to: end }, most);
    const from = apart.length < most ? reached : Math.max(reached, idTime(apart.at(-1) ?? '') + 1);
    // More than fit into a step are of one millisecond.
    if (from >= end) most *= 4;
    else {
      const together = await eventsTogether(db, deliveries, range);
      const events = [...new Set([...together, ...apart])].filter((id) => id >= idFloor('evt', from));
      yield stepAmong(db, selection, { from, to: end, rows: range.rows }, events);
      end = from;
      most = Math.min(rows, most * 4);
    }
  }
}

/** The newest events of a range with a delivery that was made apart from them. */
function eventsApart(db: Queryable, deliveries: Selection, range: Range, most: number): Promise<string[]> {
  return sql(db).column`
    select distinct r.event_id as id from deliveries r
    where ${APART} and ${matches(deliveries)} and ${madeIn('r.event_id', 'evt', range)}
      and r.id >= ${deliveriesFrom(range.from)}
    order by 1 desc limit ${most}`;
}

function eventsTogether(db: Queryable, deliveries: Selection, range: Range): Promise<string[]> {
  return sql(db).column`
    select r.event_id as id from deliveries r where ${rowMatches(deliveries, range)} and not ${APART}`;
}

// Rows are looked up one by one: `offset 0` keeps the inner query as it is, which PostgreSQL would else join by reading
// the range.
/** A step that finds what matches among some ids. @param range in which they were made */
function stepAmong(db: Queryable, selection: Selection, range: RowRange, candidates: string[]): Step {
  const matching = async (limit: number) => {
    if (candidates.length === 0) return [];
    return sql(db).column`
      select x.id from unnest(${candidates}::text[]) as p(id) cross join lateral (
        select r.id from ${rowsOf(selection)}
        where r.id = p.id collate "C" and ${rowMatches(selection, range)} offset 0
      ) x order by x.id desc limit ${limit}`;
  };
  return {
    from: range.from,
    rows: range.rows,
    newest: matching,
    async count({ first, end }) {
      const ids = await matching(candidates.length);
      return { ids: ids.slice(first, end), total: ids.length };
    },
  };
}

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
  const below = (after: string | null) => ({ ...selection, ...(after !== null && { before: after }) });
  if (isIndexed) {
    const { items, ...found } = await readPart<string>(part, {
      total: () => countIndexed(db, selection),
      items: (after, limit, offset) => readIndexed(db, below(after), limit, offset),
      cursorOf: (id) => id,
    });
    return { ids: items, ...found };
  }
  if ('offset' in part) return { ...(await searchPage(db, selection, part)), next: null, searchedUntil: null };
  const { after, limit, withTotal } = part;
  const { total, totalIsExact } = withTotal
    ? await searchPage(db, selection, { limit: 0, offset: 0 })
    : { total: null, totalIsExact: true };
  const { ids, searchedFrom } = await searchNewest(db, below(after), limit + 1, forMs);
  const shown = ids.slice(0, limit);
  const found = { ids: shown, total, totalIsExact };
  if (ids.length > limit) return { ...found, next: shown.at(-1) ?? null, searchedUntil: null };
  if (searchedFrom === null) return { ...found, next: null, searchedUntil: null };
  return { ...found, next: cursorAt(selection, searchedFrom), searchedUntil: new Date(searchedFrom) };
}

// Search in payloads. There is no text index, because it would make storing every webhook more expensive. So payloads are read,
// newest first, for a limited time. The answer is exact, or it is an error that says how far the search came.
import type { Queryable } from '../pool.ts';
import type { Range } from './cut.ts';
import { countStretches, madeIn, matches, Parameters, refine, type Selection } from './page.ts';

/** How long a search may read, ms; a running step is completed. */
export const SEARCH_MS = 5000;
/** Events that one statement reads. */
const EVENTS_PER_STEP = 10_000;

/** Thrown when a search cannot read all payloads in its time. */
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

/**
 * Counts the events of a selection whose payload matches, and finds the ids of one page, newest first.
 * @param db one snapshot
 * @param pattern LIKE pattern; letter case is ignored
 * @param forMs starts no further step after this time
 * @throws SearchTooBroadError
 */
export async function searchPage(
  db: Queryable,
  selection: Selection,
  pattern: string,
  { limit, offset }: { limit: number; offset: number },
  forMs: number = SEARCH_MS,
): Promise<{ ids: string[]; total: number }> {
  const giveUpAt = performance.now() + forMs;
  const ids: string[] = [];
  let total = 0;
  let searchedFrom: Date | undefined;
  const pieces = await refine(db, selection, await countStretches(db, selection));
  for (const step of stepsOf(pieces)) {
    if (searchedFrom && performance.now() > giveUpAt) throw new SearchTooBroadError(searchedFrom, total);
    // Start and end of the page within the matches of this step, newest first.
    const wanted = { first: place(offset - total), end: place(offset + limit - total) };
    const found = await search(db, selection, pattern, step, wanted);
    ids.push(...found.ids);
    total += found.total;
    searchedFrom = new Date(step.from);
  }
  return { ids, total };
}

/** A place in what one step finds, which is far less than an integer of PostgreSQL can hold. */
const place = (n: number): number => Math.min(Math.max(0, n), 2 ** 30);

/** Joins hours that follow each other into steps of about EVENTS_PER_STEP events; hours in which none matches are left out. */
function stepsOf(pieces: (Range & { total: number })[]): Range[] {
  const steps: (Range & { total: number })[] = [];
  for (const { from, to, total } of pieces) {
    const newer = steps.at(-1);
    if (newer && newer.from === to && newer.total + total <= EVENTS_PER_STEP) {
      newer.from = from;
      newer.total += total;
    } else steps.push({ from, to, total });
  }
  return steps;
}

// `case` keeps convert_from away from bytes that are not text, in any order that the planner chooses. Its result has the
// collation "C" of the encoding's name, in which only ASCII letters have a case; hence the explicit collation.
async function search(
  db: Queryable,
  selection: Selection,
  pattern: string,
  range: Range,
  wanted: { first: number; end: number },
): Promise<{ ids: string[]; total: number }> {
  const query = new Parameters();
  const { rows } = await db.query<{ ids: string[] | null; total: number }>(
    `select count(*) as total, (array_agg(r.id order by r.id desc))[${query.add(wanted.first + 1)}::int:${query.add(wanted.end)}::int] as ids
     from events r join sources s on s.id = r.source_id join event_payloads p on p.event_id = r.id
     where ${madeIn(query, 'r.id', 'evt', range)} and ${madeIn(query, 'p.event_id', 'evt', range)} and ${matches(query, 'r', selection)}
       and case when p.is_text then convert_from(p.body, 'UTF8') collate "default" ilike ${query.add(pattern)} else false end`,
    query.values,
  );
  return { ids: rows[0]?.ids ?? [], total: rows[0]?.total ?? 0 };
}

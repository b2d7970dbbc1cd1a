// Lists over millions of rows: exact totals, and any page, from the counts of db/schema/07-counts.sql.
//
// The total is the sum of the counts of whole days and hours, of the changes since, and of the rows that are not settled. The
// same counts show in which hours the rows of a page are, and of which sources or destinations. Only those are read, so a distant
// page, or one of a rare status, costs as much as the first one.
import { idFloor } from '../../../core/ids.ts';
import type { Queryable } from '../../connections/pool.ts';
import { cutRange, type Range, type Stretch, stretchesOfPage } from './cut.ts';
import {
  isUnfiltered,
  KINDS,
  madeIn,
  matches,
  Parameters,
  rangeOfSelection,
  rowMatches,
  rowsOf,
  type Selection,
} from '../selection.ts';
import { settledBefore } from './settle.ts';

const HOUR_MS = 3_600_000;
// When more sources or destinations than this match in an hour, its rows are read in their order, as far as the page needs
// them: reading so many of them one by one, each for the whole hour, takes longer.
const MANY_SUBJECTS = 20;
const DAY_MS = 86_400_000;

/**
 * Counts what a selection matches, and finds the ids of one page, newest first.
 * @param db one snapshot (db/connections/pool.ts, `inSnapshot`): the statements must see the same rows
 */
export async function findPage(
  db: Queryable,
  selection: Selection,
  page: { limit: number; offset: number },
): Promise<{ ids: string[]; total: number }> {
  const stretches = await countStretches(db, selection);
  const total = stretches.reduce((sum, stretch) => sum + stretch.total, 0);
  const { within, skip } = stretchesOfPage(stretches, page);
  if (within.length === 0) return { ids: [], total };
  const pieces = await refine(db, selection, within);
  const fine = stretchesOfPage(pieces, { limit: page.limit, offset: skip });
  return { ids: await readIds(db, selection, fine.within, { limit: page.limit, offset: fine.skip }), total };
}

/** A range whose rows are counted by hours and days, or row by row. */
export interface CountedStretch extends Stretch {
  settled: boolean;
}

/**
 * Ranges with rows of a selection, and their counts, newest first.
 * @param unsettled whether the rows that are not settled are counted, or left as stretches that may have any number (total 0)
 */
export async function countStretches(
  db: Queryable,
  selection: Selection,
  unsettled: 'counted' | 'uncounted' = 'counted',
): Promise<CountedStretch[]> {
  const end = (await settledBefore(db)).getTime();
  const { rows, days, hours } = cutRange(rangeOfSelection(selection), end);
  const settled = await countSettled(db, selection, days, hours, end);
  const others =
    unsettled === 'counted'
      ? (await countRows(db, selection, rows)).filter(({ total }) => total !== 0)
      : rows.map((range) => ({ ...range, total: 0, settled: false }));
  return [...settled.filter(({ total }) => total !== 0), ...others].toSorted((a, b) => b.from - a.from);
}

async function countSettled(
  db: Queryable,
  selection: Selection,
  days: Range[],
  hours: Range[],
  end: number,
): Promise<CountedStretch[]> {
  const { route_id, destination_id } = selection.where;
  const day = route_id === undefined && destination_id === undefined ? 'source-day' : 'day';
  const spans = [
    ...days.map((range) => ({ name: day, width: DAY_MS, range })),
    ...hours.map((range) => ({ name: 'hour', width: HOUR_MS, range })),
  ];
  if (spans.length === 0) return [];
  const query = new Parameters();
  const parts = spans.flatMap(({ name, width, range }) => [
    `select c.start, ${width} as width, c.total
     from history_counts c join sources s on s.id = c.source_id
     where c.kind = ${query.add(selection.kind)} and c.span = '${name}' and ${startsIn(query, range)} and ${matches(query, 'c', selection)}`,
    `select date_bin(${width} * interval '1 ms', id_time(c.id), 'epoch'), ${width}, c.change
     from history_changes c join sources s on s.id = c.source_id
     where ${madeIn(query, 'c.id', KINDS[selection.kind].prefix, range)} and ${matches(query, 'c', selection)}`,
  ]);
  const { rows } = await db.query<{ start: Date; width: number; total: number }>(
    `select start, width, sum(total)::float8 as total from (${parts.join(' union all ')}) counts group by start, width`,
    query.values,
  );
  return rows.map(({ start, width, total }) => {
    const from = start.getTime();
    return { from, to: Math.min(from + width, end), total, settled: true };
  });
}

async function countRows(db: Queryable, selection: Selection, ranges: Range[]): Promise<CountedStretch[]> {
  const query = new Parameters();
  const counts = ranges.map(
    (range, index) =>
      `select ${index} as index, count(*)::float8 as total from ${rowsOf(selection)}
       where ${madeIn(query, 'r.id', KINDS[selection.kind].prefix, range)} and ${matches(query, 'r', selection)}`,
  );
  if (counts.length === 0) return [];
  const { rows } = await db.query<{ index: number; total: number }>(counts.join(' union all '), query.values);
  return rows.map(({ index, total }) => ({ ...(ranges[index] ?? { from: 0, to: 0 }), total, settled: false }));
}

/** Part of a stretch: an hour, and whose rows in it match; without `subjects` anyone's. */
export interface Piece extends Stretch {
  subjects?: string[];
}

/** Splits settled ranges into hours, with the subjects whose rows match in each; newest first. */
export async function refine(db: Queryable, selection: Selection, stretches: CountedStretch[]): Promise<Piece[]> {
  const settled = stretches.filter((stretch) => stretch.settled);
  if (settled.length === 0) return stretches;
  const query = new Parameters();
  const starts = query.add(settled.map(({ from }) => new Date(from)));
  const ends = query.add(settled.map(({ to }) => new Date(to)));
  const around = { from: settled.at(-1)?.from ?? 0, to: settled[0]?.to ?? 0 };
  // Without a filter everyone's rows match.
  const isFiltered = !isUnfiltered(selection);
  const subject = isFiltered ? `c.${KINDS[selection.kind].subject}` : `''`;
  const { rows } = await db.query<{ start: Date; subjects: string[]; total: number }>(
    `select start, array_agg(subject) as subjects, sum(total)::float8 as total from (
       select start, subject, sum(total) as total from (
         select c.start, ${subject} as subject, c.total
         from history_counts c join sources s on s.id = c.source_id
         where c.kind = ${query.add(selection.kind)} and c.span = 'hour' and ${startsIn(query, around)} and ${matches(query, 'c', selection)}
         union all
         select date_bin('1 hour', id_time(c.id), 'epoch'), ${subject}, c.change
         from history_changes c join sources s on s.id = c.source_id
         where ${madeIn(query, 'c.id', KINDS[selection.kind].prefix, around)} and ${matches(query, 'c', selection)}
       ) counts
       where exists (select from unnest(${starts}::timestamptz[], ${ends}::timestamptz[]) as w(first, after) where start >= first and start < after)
       group by start, subject having sum(total) <> 0
     ) hours
     group by start`,
    query.values,
  );
  const hours = rows.map(({ start, subjects, total }) => {
    const from = start.getTime();
    return { from, to: Math.min(from + HOUR_MS, around.to), total, ...(isFiltered && { subjects }) };
  });
  return [...hours, ...stretches.filter((stretch) => !stretch.settled)].toSorted((a, b) => b.from - a.from);
}

/** The ids of a page that is cut from these pieces. */
export async function readIds(
  db: Queryable,
  selection: Selection,
  pieces: Piece[],
  page: { limit: number; offset: number },
  order: 'asc' | 'desc' = 'desc',
): Promise<string[]> {
  const query = new Parameters();
  const isPlain = ({ subjects }: Piece) => subjects === undefined || subjects.length > MANY_SUBJECTS;
  const plain = pieces.filter(isPlain);
  const bySubject = pieces
    .filter((piece) => !isPlain(piece))
    .flatMap(({ subjects = [], from, to }) => subjects.map((subject) => ({ subject, from, to })));
  // Without a filter nothing lies between the pieces, so they are read as one range.
  const ranges = pieces.every(({ subjects }) => subjects === undefined) ? [rangeOf(plain)] : plain;
  const parts = ranges.map((range) => idsIn(query, selection, range));
  if (bySubject.length > 0) parts.push(idsOf(query, selection, bySubject));
  const { rows } = await db.query<{ id: string }>(
    `select id from (${parts.join(' union all ')}) found order by id ${order} limit ${query.add(page.limit)} offset ${query.add(page.offset)}`,
    query.values,
  );
  return rows.map((row) => row.id);
}

function idsIn(query: Parameters, selection: Selection, range: Range): string {
  return `select r.id from ${rowsOf(selection)} where ${rowMatches(query, selection, range)}`;
}

// `offset 0` keeps the inner query as it is: PostgreSQL would rather read the whole range from the first to the last piece
// once, because it cannot know that most of it does not match.
/** Rows of some sources or destinations, each in its own range, by the index that starts with them. */
function idsOf(query: Parameters, selection: Selection, pieces: (Range & { subject: string })[]): string {
  const { prefix, subject } = KINDS[selection.kind];
  const subjects = query.add(pieces.map((piece) => piece.subject));
  const lows = query.add(pieces.map((piece) => idFloor(prefix, piece.from)));
  const highs = query.add(pieces.map((piece) => idFloor(prefix, piece.to)));
  return `select x.id from unnest(${subjects}::text[], ${lows}::text[], ${highs}::text[]) as p(subject, low, high)
    cross join lateral (
      select r.id from ${rowsOf(selection)}
      where r.${subject} = p.subject collate "C" and r.id >= p.low collate "C" and r.id < p.high collate "C"
        and ${rowMatches(query, selection, rangeOf(pieces))}
      offset 0
    ) x`;
}

function rangeOf(pieces: Range[]): Range {
  return { from: Math.min(...pieces.map(({ from }) => from)), to: Math.max(...pieces.map(({ to }) => to)) };
}

function startsIn(query: Parameters, { from, to }: Range): string {
  return `c.start >= ${query.add(new Date(from))} and c.start < ${query.add(new Date(to))}`;
}

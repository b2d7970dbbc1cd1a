// Deliveries by how they ended, and attempts by the code of their answer, of an organization over time. They are read from the
// history of its figures, and from what is not packed yet (pack-figures.ts), in one statement, so one snapshot, and added up here.
// Rules: METRIC-06 to METRIC-10, METRIC-15.
import { setImmediate } from 'node:timers/promises';
import { keptStepOf } from '../../../core/figure-steps.ts';
import type { Queryable } from '../../connections/pool.ts';
import { type Figure, FIGURES, NO_ANSWER, OTHER_CODE } from '../../delivery/count-figures.ts';
import {
  type FigureAnswer,
  type FigureQuestion,
  type Figures,
  IN_TIME,
  msOf,
  type Narrowing,
  OF_SOURCES,
} from './figure-series.ts';
import { FigureSums, type Parts } from './figure-sums.ts';
import { FIGURES_SHAPE } from './pack-figures.ts';

// Of the history that one answer may read, as it is stored (compressed); some hundred milliseconds of work.
const MOST_BYTES = 16 * 1024 * 1024;
// The event loop is for others after so much of it.
const TURN_MS = 10;

const COUNTS = `
with packed as (
  select bucket, counts, sum(pg_column_size(counts)) over () > ${MOST_BYTES} as too_many from figure_history
  where organization_id = $1 and step = $4 and ${IN_TIME}
)
select ${msOf('bucket')} as at, too_many, case when not too_many then counts::text end as counts, null as "destinationId", null as "routeId", null as "sourceId"
from packed
union all
select ${msOf('bucket')}, false, json_build_array(0, status_code, ${FIGURES.join(', ')})::text, destination_id, route_id, source_id
from delivery_figures where organization_id = $1 and ${IN_TIME} and ${OF_SOURCES}`;

// After the statement above: the ways that it names are known by then. Those of a deleted source are not told.
const WAYS = `
select id::float8 as id, destination_id as "destinationId", route_id as "routeId", source_id as "sourceId"
from figure_ways where organization_id = $1 and ${OF_SOURCES}`;

type Way = Record<Narrowing, string>;

/** Of the history, or of what is not packed yet: then the way is not known by its number, but by its ids. */
interface CountRow extends Record<Narrowing, string | null> {
  /** The beginning of the bucket, ms since 1970. */
  at: number;
  too_many: boolean;
  /** JSON: ways, codes and sums, one after the other. */
  counts: string | null;
}

interface Kind {
  /** What tells the parts of a step, and of the whole time. */
  partOf: { step: (code: number) => number; whole: (code: number) => number };
  /** Decides which groups have most. */
  weight: (sums: Sums, from: number) => number;
  figures: (parts: Parts<number>, isTotal: boolean) => Figures;
}

/** Sums in the order of FIGURES, from a place on. */
type Sums = readonly number[];
const [KEYS] = FIGURES_SHAPE;
const LENGTH = KEYS + FIGURES.length;

const PLACES = Object.fromEntries(FIGURES.map((figure, place) => [figure, place])) as Record<Figure, number>;
const sumOf = (sums: Sums, figure: Figure, from = 0): number => sums[from + PLACES[figure]] ?? 0;
const ENDED = ['delivered', 'failed', 'failed_over', 'not_sent', 'cancelled'] as const;

const KINDS: Record<'deliveries' | 'attempts', Kind> = {
  deliveries: {
    partOf: { step: () => 0, whole: () => 0 },
    weight: (sums, from) => {
      let total = 0;
      for (const figure of ENDED) total += sumOf(sums, figure, from);
      return total;
    },
    figures: (parts) => {
      const sums = parts.get(0) ?? [];
      return {
        delivered: sumOf(sums, 'delivered'),
        failed: sumOf(sums, 'failed'),
        failedOver: sumOf(sums, 'failed_over'),
        notSent: sumOf(sums, 'not_sent'),
        cancelled: sumOf(sums, 'cancelled'),
      };
    },
  },
  attempts: {
    // Exact codes of the whole time only: of each step there are few classes, however many codes a destination answers.
    partOf: { step: (code) => Math.floor(code / 100), whole: (code) => code },
    weight: (sums, from) => sumOf(sums, 'attempts', from),
    figures: (parts, isTotal) => {
      if (!isTotal) return attemptsOf(parts);
      const codes = [...parts].map(([code, sums]): [string, number] => [codeName(code), sumOf(sums, 'attempts')]);
      return { ...attemptsOf(classesOf(parts)), codes: Object.fromEntries(codes) };
    },
  },
};

/**
 * The figures of the groups with most; without groups there is one series.
 * @throws TooManyFiguresError when there are more than can be added up for one answer
 */
export async function readDeliveryFigures(
  db: Queryable,
  question: FigureQuestion,
  metric: 'deliveries' | 'attempts',
): Promise<FigureAnswer> {
  const kind = KINDS[metric];
  const { organizationId, from, to, step, groupBy, mostGroups } = question;
  const { rows } = await db.query<CountRow>(COUNTS, [organizationId, from, to, keptStepOf(step)]);
  if (rows.some(({ too_many }) => too_many)) throw new TooManyFiguresError();
  const ways = await db.query<Way & { id: number }>(WAYS, [organizationId]);
  const groups = new Map(ways.rows.map((way) => [way.id, groupOf(way, question)]));
  const buckets: Bucket[] = [];
  await inTurns(rows, (row) => {
    const counts = JSON.parse(row.counts ?? '[]') as number[];
    buckets.push({ at: row.at, counts, own: isWay(row) ? groupOf(row, question) : undefined });
  });
  const eachOf = (visit: Visit) =>
    inTurns(buckets, ({ at: ms, counts, own }) => {
      for (let at = 0; at < counts.length; at += LENGTH) {
        const id = own ?? groups.get(counts[at] ?? 0) ?? null;
        if (id === null || kind.weight(counts, at + KEYS) === 0) continue;
        const code = counts[at + 1] ?? 0;
        visit(groupBy === 'statusCode' ? codeName(code) : id, ms, code, counts, at + KEYS);
      }
    });
  const sums = new FigureSums<number>(step, FIGURES.length);
  await eachOf((id, _ms, _code, counts, from) => sums.weigh(id, kind.weight(counts, from)));
  sums.choose(mostGroups);
  const { partOf } = kind;
  await eachOf((id, ms, code, counts, from) =>
    sums.add(id, ms, { step: partOf.step(code), whole: partOf.whole(code) }, counts, from),
  );
  return sums.answer(db, question, kind.figures);
}

interface Bucket {
  /** Its beginning, ms since 1970. */
  at: number;
  counts: readonly number[];
  /** Of what is not packed: the group of its way; null: the question is not about it. Undefined: the ways in the list tell. */
  own: string | null | undefined;
}

/** @param counts the sums of a way and a code in a bucket, from a place on */
type Visit = (id: string, ms: number, code: number, counts: readonly number[], from: number) => void;

async function inTurns<T>(all: T[], work: (one: T) => void): Promise<void> {
  let turn = performance.now();
  for (const one of all) {
    work(one);
    if (performance.now() - turn < TURN_MS) continue;
    await setImmediate();
    turn = performance.now();
  }
}

const isWay = (row: Record<Narrowing, string | null>): row is Way => row.sourceId !== null;

/** The group of what went a way, unless its codes make the groups; null: the question is not about it. */
function groupOf(way: Way, { groupBy, where }: FigureQuestion): string | null {
  for (const [name, id] of Object.entries(where)) if (way[name as Narrowing] !== id) return null;
  return groupBy === null || groupBy === 'statusCode' ? '' : way[`${groupBy}Id`];
}

/** @param classes sums by the class of their codes */
function attemptsOf(classes: Parts<number>): Figures {
  let [attempts, answers, latencySum] = [0, 0, 0];
  const byClass: Record<string, number> = {};
  for (const [digit, sums] of classes) {
    const its = sumOf(sums, 'attempts');
    attempts += its;
    byClass[className(digit)] = its;
    if (digit === NO_ANSWER) continue;
    answers += its;
    latencySum += sumOf(sums, 'latency_sum');
  }
  return { attempts, avgLatency: answers === 0 ? null : Math.round(latencySum / answers), classes: byClass };
}

function classesOf(codes: Parts<number>): Parts<number> {
  const byClass = Map.groupBy(codes, ([code]) => Math.floor(code / 100));
  const added = (some: [number, number[]][]) =>
    FIGURES.map((figure) => some.reduce((sum, [, sums]) => sum + sumOf(sums, figure), 0));
  return new Map([...byClass].map(([digit, some]) => [digit, added(some)]));
}

const className = (digit: number): string =>
  digit === NO_ANSWER ? 'none' : digit === OTHER_CODE / 100 ? 'other' : `${digit}xx`;
const codeName = (code: number): string => (code === NO_ANSWER ? 'none' : code === OTHER_CODE ? 'other' : String(code));

/** Thrown when an answer would have to add up more than MOST_BYTES of figures. */
export class TooManyFiguresError extends Error {
  override readonly name = 'TooManyFiguresError';
  constructor() {
    super('There are too many figures in this time for one answer');
  }
}

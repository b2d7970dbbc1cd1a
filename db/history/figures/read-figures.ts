// Reads the figures of an organization (GET /api/metrics) from roll-ups: of ingest (migrations 0003 and 0052), of refused webhooks
// (migration 0062), and of deliveries and their attempts (migration 0063). A question is one statement, so one snapshot. It reads
// ranges of indexes, as many rows as there are buckets, ways, causes and codes in its time, and never the records themselves.
// Rules: METRIC-06 to METRIC-10, METRIC-15.
import { NO_ANSWER, OTHER_CODE } from '../../delivery/count-figures.ts';
import type { Queryable } from '../../connections/pool.ts';
import { bucketOf, INGESTED } from '../../sql-rules.ts';
import { readLatencies } from './figure-latencies.ts';
import {
  answerOf,
  type FigureAnswer,
  type FigureQuestion,
  type FigureRow,
  type Figures,
  type Grouping,
  IN_TIME,
  type Metric,
  type Narrowing,
  parametersOf,
  STEP_OF_BUCKET,
} from './figure-series.ts';

/** What a metric is made of. */
interface Kind {
  /** Rows with a bucket, an id for each grouping, and what is summed up. $1 is the organization, $2 and $3 the time. */
  rows: string;
  /** Members of the answer, and what they sum up. */
  sums: Record<string, string>;
  /** What tells the parts of a sum: those of each step, and those of the whole time. */
  parts?: { step: string; whole: string };
}

// A deleted source takes its events with it, and from then on nothing shows what came of them.
const OF_SOURCES = 'source_id in (select id from sources where organization_id = $1)';
const OF_DELIVERIES = `select * from delivery_figures where organization_id = $1 and ${IN_TIME} and ${OF_SOURCES}`;

const ingested = (table: string, ids: string): string => `
  select ${ids}, i.bucket, i.events, i.filtered from ${table} s
  cross join lateral (select bucket, events, filtered from ${INGESTED} where subject_id = s.id and ${IN_TIME}) i
  where s.organization_id = $1`;
const BY_SOURCE = ingested('sources', 's.id as source_id');
const BY_ROUTE = ingested('routes', 's.id as route_id, s.source_id');

const REFUSED = `
  select s.id as source_id, r.bucket, r.cause, r.refusals from sources s
  cross join lateral (
    select hour as bucket, cause, refusals from refusal_counts
    where source_id = s.id and organization_id = $1 and hour >= $2 and hour < $3
  ) r
  where s.organization_id = $1`;

const KINDS: Record<Exclude<Metric, 'latency'>, (question: FigureQuestion) => Kind> = {
  // Each event once; by routes, once for each that took it.
  events: ({ groupBy, where }) => ({
    rows: groupBy === 'route' || where.routeId !== undefined ? BY_ROUTE : BY_SOURCE,
    sums: { events: 'events' },
  }),
  filtered: () => ({ rows: BY_ROUTE, sums: { filtered: 'filtered' } }),
  refused: () => ({ rows: REFUSED, sums: { refused: 'refusals' }, parts: { step: 'cause', whole: 'cause' } }),
  deliveries: () => ({
    rows: OF_DELIVERIES,
    sums: {
      delivered: 'delivered',
      failed: 'failed',
      failedOver: 'failed_over',
      notSent: 'not_sent',
      cancelled: 'cancelled',
    },
  }),
  attempts: () => ({
    rows: `${OF_DELIVERIES} and attempts > 0`,
    sums: { attempts: 'attempts', latencySum: 'latency_sum' },
    // Exact codes of the whole time only: of each step there are few classes, however many codes a destination answers.
    parts: { step: 'status_code / 100', whole: 'status_code' },
  }),
};
/** What decides which groups have most. */
const WEIGHT: Record<Exclude<Metric, 'latency'>, string> = {
  events: 'events',
  filtered: 'filtered',
  refused: 'refusals',
  deliveries: 'delivered + failed + failed_over + not_sent + cancelled',
  attempts: 'attempts',
};

const COLUMN: Record<Narrowing, string> = {
  sourceId: 'source_id',
  routeId: 'route_id',
  destinationId: 'destination_id',
};
const GROUP: Record<Grouping, { id: string; table?: string }> = {
  source: { id: 'source_id', table: 'sources' },
  route: { id: 'route_id', table: 'routes' },
  destination: { id: 'destination_id', table: 'destinations' },
  statusCode: { id: 'status_code::text' },
};

// Longer than it takes to record what has happened, and than clocks of processes differ.
const RECORDING = `interval '30 seconds'`;

/** The beginning of the bucket that is still being filled. */
export async function completeUntil(db: Queryable): Promise<Date> {
  const { rows } = await db.query<{ until: Date }>(`select ${bucketOf(`now() - ${RECORDING}`)} as until`);
  return rows[0]?.until ?? new Date(0);
}

/** The figures of the groups with most; without groups there is one series. */
export async function readFigures(db: Queryable, question: FigureQuestion): Promise<FigureAnswer> {
  const { metric, groupBy } = question;
  if (metric === 'latency') return readLatencies(db, question);
  const { text, values } = figureStatement(question);
  const { rows } = await db.query<SumRow>(text, values);
  if (metric === 'attempts') return byCodes(rows, groupBy);
  if (metric === 'refused') return byCauses(rows);
  const names = Object.keys(KINDS[metric](question).sums);
  return answerOf(rows, ([row]) => Object.fromEntries(names.map((name) => [name, Number(row?.[name])])));
}

interface SumRow extends FigureRow {
  /** Of `attempts`: of a step the class of their codes (code / 100), of the whole time the code. Of `refused`: the cause. */
  part: number | string | null;
  [figure: string]: unknown;
}

/** The statement of a question about anything but latencies: sums by group and step, and by group. */
export function figureStatement(question: FigureQuestion): { text: string; values: unknown[] } {
  const { metric, groupBy, where } = question;
  if (metric === 'latency') throw new Error('latencies are not sums');
  const { rows, sums, parts } = KINDS[metric](question);
  const parted = partedBy(parts);
  const group = groupBy === null ? { id: `''`, table: undefined } : GROUP[groupBy];
  const narrowed = Object.keys(where).map((name, index) => `${COLUMN[name as Narrowing]} = $${index + 6}`);
  const name = group.table
    ? `(select n.name from ${group.table} n where n.id = t.id and n.organization_id = $1)`
    : 'null::text';
  const text = `
with step as (
  select *, ${STEP_OF_BUCKET} as at, ${group.id} as id${parted.columns}
  from (${rows}) r ${narrowed.length > 0 ? `where ${narrowed.join(' and ')}` : ''}
), summed as (
  select id, at, ${parted.part} as part, sum(${WEIGHT[metric]}) as weight,
         ${Object.entries(sums).map(([name, column]) => `sum(${column})::float8 as "${name}"`)}
  from step group by grouping sets (${parted.sets})
), top as materialized (
  select id, sum(weight) as weight, count(*) over () as groups from summed where at is null
  group by id having sum(weight) > 0 order by 2 desc, 1 limit $5
), shown as materialized (
  select t.*, ${name} as name from top t
)
select s.*, t.groups::int as groups, t.name from shown t join summed s on s.id = t.id where s.weight > 0
order by t.weight desc, t.id, s.at, s.part`;
  return { text, values: [...parametersOf(question), ...Object.values(where)] };
}

/** Columns of what is grouped, the part that a sum is of, and the sets of its groups: of each step, and of the whole time. */
function partedBy(parts: Kind['parts']): { columns: string; part: string; sets: string } {
  if (!parts) return { columns: '', part: 'null::int', sets: '(id, at), (id)' };
  const { step, whole } = parts;
  // Not two columns for one value: before PostgreSQL 18, grouping sets take one for the other.
  if (step === whole)
    return { columns: `, ${step} as of_both`, part: 'of_both', sets: '(id, at, of_both), (id, of_both)' };
  return {
    columns: `, ${step} as of_step, ${whole} as of_whole`,
    part: 'coalesce(of_step, of_whole)',
    sets: '(id, at, of_step), (id, of_whole)',
  };
}

const sumOf = (name: string, rows: SumRow[]): number => rows.reduce((total, row) => total + Number(row[name]), 0);

function byCauses(rows: SumRow[]): FigureAnswer {
  return answerOf(rows, (some) => ({
    refused: sumOf('refused', some),
    causes: Object.fromEntries(some.map((row) => [row.part, Number(row.refused)])),
  }));
}

function byCodes(rows: SumRow[], groupBy: Grouping | null): FigureAnswer {
  const named: SumRow[] =
    groupBy === 'statusCode' ? rows.map((row) => ({ ...row, id: codeName(Number(row.id)) })) : rows;
  return answerOf(named, (some, isTotal) => {
    if (!isTotal) return attemptsOf(some);
    const classes = some.map((row) => ({ ...row, part: Math.floor(Number(row.part) / 100) }));
    const codes = some.map((row): [string, number] => [codeName(Number(row.part)), Number(row.attempts)]);
    return { ...attemptsOf(classes), codes: Object.fromEntries(codes) };
  });
}

/** @param rows with the classes of codes */
function attemptsOf(rows: SumRow[]): Figures {
  const answered = rows.filter(({ part }) => part !== NO_ANSWER);
  const answers = sumOf('attempts', answered);
  const byClass = Map.groupBy(rows, ({ part }) => className(Number(part)));
  return {
    attempts: sumOf('attempts', rows),
    avgLatency: answers === 0 ? null : Math.round(sumOf('latencySum', answered) / answers),
    classes: Object.fromEntries([...byClass].map(([name, some]) => [name, sumOf('attempts', some)])),
  };
}

const className = (digit: number): string =>
  digit === NO_ANSWER ? 'none' : digit === OTHER_CODE / 100 ? 'other' : `${digit}xx`;
const codeName = (code: number): string => (code === NO_ANSWER ? 'none' : code === OTHER_CODE ? 'other' : String(code));

// The figures of an organization over time (GET /api/metrics): how many, by steps and groups. They are added up by
// PostgreSQL, in one statement, so one snapshot, from the ledger, and from `refusal_counts` for webhooks that were
// refused; never from the records.
import { percentilesOf } from '../../core/metrics/latency-classes.ts';
import type { Queryable } from '../connections/pool.ts';
import { bucketOf, recent, NO_ANSWER, OTHER_CODE } from './entries.ts';
import { raw, sql } from '../connections/statements.ts';

export const METRICS = ['events', 'filtered', 'refused', 'deliveries', 'attempts', 'latency'] as const;
export type Metric = (typeof METRICS)[number];
export const GROUPINGS = ['source', 'route', 'destination', 'statusCode'] as const;
export type Grouping = (typeof GROUPINGS)[number];
export type Narrowing = 'sourceId' | 'routeId' | 'destinationId';

export interface FigureQuestion {
  organizationId: string;
  metric: Metric;
  groupBy: Grouping | null;
  where: Partial<Record<Narrowing, string>>;
  from: Date;
  to: Date;
  step: number;
  mostGroups: number;
}

export type Figures = Record<string, number | null | Record<string, number>>;

interface Series {
  /** Of the group; null without groups. */
  id: string | null;
  /** Null for a record that was deleted. */
  name: string | null;
  total: Figures;
  /** In order; steps in which nothing was counted are left out. */
  points: { at: string; figures: Figures }[];
}

export interface FigureAnswer {
  series: Series[];
  /** How many groups there are, shown or not. */
  groups: number;
}

interface Sums {
  part: string;
  [sum: string]: string | number | number[][][];
}

interface Counting {
  sums: Record<string, string>;
  /** Only rows of which it is not 0 count; it decides which groups have most. */
  weight: string;
  condition?: string;
  /**
   * What tells the parts of the whole time apart, and of a step. Of each step there are few classes of codes, however
   * many codes.
   */
  whole?: string;
  part?: string;
  figures: (parts: Sums[], isTotal: boolean) => Figures;
}

const OF_ROUTES = 'route_id in (select id from routes where organization_id = $1)';
const numberOf = (sums: Sums | undefined, name: string) => Number(sums?.[name] ?? 0);

const ENDINGS = {
  delivered: 'delivered',
  failed: 'failed',
  failedOver: 'failed_over',
  notSent: 'not_sent',
  cancelled: 'cancelled',
};

const COUNTED: Record<Metric, (question: FigureQuestion) => Counting> = {
  // Each event once; by routes, once for each that took it.
  events: ({ groupBy, where }) => {
    const isOfRoutes = groupBy === 'route' || where.routeId !== undefined;
    const weight = isOfRoutes ? 'routed' : 'events';
    return {
      sums: { events: weight },
      weight,
      ...(isOfRoutes && { condition: OF_ROUTES }),
      figures: ([sums]) => ({ events: numberOf(sums, 'events') }),
    };
  },
  filtered: () => ({
    sums: { filtered: 'filtered' },
    weight: 'filtered',
    condition: OF_ROUTES,
    figures: ([sums]) => ({ filtered: numberOf(sums, 'filtered') }),
  }),
  refused: () => ({
    sums: { refused: 'refusals' },
    weight: 'refusals',
    whole: 'cause',
    figures: (parts) => {
      const causes = parts.map((sums): [string, number] => [sums.part, numberOf(sums, 'refused')]);
      return { refused: causes.reduce((all, [, count]) => all + count, 0), causes: Object.fromEntries(causes) };
    },
  }),
  deliveries: () => ({
    sums: ENDINGS,
    weight: Object.values(ENDINGS)
      .map((column) => `coalesce(${column}, 0)`)
      .join(' + '),
    figures: ([sums]) => Object.fromEntries(Object.keys(ENDINGS).map((name) => [name, numberOf(sums, name)])),
  }),
  attempts: () => ({
    sums: { attempts: 'attempts', latencySum: 'latency_sum' },
    weight: 'attempts',
    whole: 'code',
    part: 'code - code % 100',
    figures: attemptsOf,
  }),
  latency: () => ({
    sums: { histograms: 'latencies' },
    weight: 'attempts',
    condition: 'code > 0 and destination_id in (select id from destinations where organization_id = $1)',
    figures: (parts) => {
      const histograms = parts.flatMap(({ histograms: its }) => its as number[][][]);
      const { attempts, latencies } = percentilesOf(histograms.flat(), [50, 95, 99]);
      const [p50 = null, p95 = null, p99 = null] = latencies;
      return { attempts, p50, p95, p99 };
    },
  }),
};

function attemptsOf(parts: Sums[], isTotal: boolean): Figures {
  let [attempts, answers, latencySum] = [0, 0, 0];
  const classes: Record<string, number> = {};
  for (const sums of parts) {
    const its = numberOf(sums, 'attempts');
    const name = className(Number(sums.part));
    attempts += its;
    classes[name] = (classes[name] ?? 0) + its;
    latencySum += numberOf(sums, 'latencySum');
    if (Number(sums.part) !== NO_ANSWER) answers += its;
  }
  const codes = isTotal && { codes: Object.fromEntries(parts.map((sums) => [codeName(sums.part), sums.attempts])) };
  return {
    attempts,
    avgLatency: answers === 0 ? null : Math.round(latencySum / answers),
    classes,
    ...codes,
  } as Figures;
}

function className(code: number): string {
  return code === NO_ANSWER ? 'none' : code === OTHER_CODE ? 'other' : `${Math.floor(code / 100)}xx`;
}
const codeName = (code: string): string =>
  Number(code) === NO_ANSWER ? 'none' : Number(code) === OTHER_CODE ? 'other' : code;

const GROUP_TABLES: Partial<Record<Grouping, string>> = {
  source: 'sources',
  route: 'routes',
  destination: 'destinations',
};
const COLUMNS: Record<Narrowing, string> = {
  sourceId: 'source_id',
  routeId: 'route_id',
  destinationId: 'destination_id',
};

// $1 is the organization, $2 and $3 the time, $4 the step, $5 how many groups; the rest narrows. A deleted source takes
// its events with it, and from then on nothing shows what came of them. Rows are added up to steps first: there are
// many more of them. Sums are of doubles, which are exact up to 2^53 and several times as fast as those of bigint.
function statement(counting: Counting, { metric, groupBy, where }: FigureQuestion): string {
  const { sums, weight, condition = 'true', whole = '0', part = whole } = counting;
  const narrowed = (Object.keys(where) as Narrowing[]).map((name, index) => `${COLUMNS[name]} = $${index + 6}`);
  const conditions = ['organization_id = $1', 'bucket >= $2 and bucket < $3', condition, ...narrowed].join(' and ');
  const rows =
    metric === 'refused'
      ? `(select * from (select *, hour as bucket from refusal_counts) c where ${conditions})`
      : recent(conditions);
  const id = groupBy === null ? `''` : groupBy === 'statusCode' ? 'code' : `${groupBy}_id`;
  const table = groupBy && GROUP_TABLES[groupBy];
  const each = (write: (name: string, column: string) => string) =>
    Object.entries(sums)
      .map(([name, column]) => `${write(name, column)} as "${name}"`)
      .join(', ');
  // Histograms are not added up here, but where they are read: the whole time from its steps, else they would be sent
  // twice.
  const [sumOfRows, added] =
    metric === 'latency'
      ? [(column: string) => `json_agg(${column})`, `select id, at, part, ${each((name) => `"${name}"`)} from steps`]
      : [
          (column: string) => `sum(${column}::float8)`,
          `select id, at, coalesce(part, whole) as part, ${each((name) => `sum("${name}")`)} from steps
  where id in (select id from chosen) group by grouping sets ((id, at, part), (id, whole))`,
        ];
  return `
with steps as (
  select ${id} as id, date_bin(make_interval(secs => $4), bucket, 'epoch') as at, ${whole} as whole, ${part} as part,
         sum((${weight})::float8) as weight, ${each((_, column) => sumOfRows(column))}
  from ${rows} l where ${weight} > 0 and source_id in (select id from sources where organization_id = $1)
  group by 1, 2, 3, 4
), chosen as (
  select id, sum(weight) as weight, count(*) over () as groups from steps group by id order by 2 desc, 1 limit $5
), added as (
  ${added}
)
select c.id::text, ${table ? 'n.name' : 'null'} as name, c.groups::int as groups,
       1000 * extract(epoch from a.at)::float8 as ms, a.part::text as part, ${each((name) => `a."${name}"`)}
from chosen c join added a on a.id = c.id ${table ? `left join ${table} n on n.id = c.id and n.organization_id = $1` : ''}
order by c.weight desc, c.id, a.at`;
}

interface Row extends Sums {
  id: string;
  name: string;
  groups: number;
  /** The beginning of a step, since 1970; null: of the whole time. */
  ms: number;
}

/**
 * The figures of the groups with most; without groups there is one series.
 * @param db a transaction: in it PostgreSQL reads the range of the index, whatever part of the table that is
 */
export async function readFigures(db: Queryable, question: FigureQuestion): Promise<FigureAnswer> {
  const { organizationId, from, to, step, mostGroups, where, metric, groupBy } = question;
  const counting = COUNTED[metric](question);
  await sql(db).run`select set_config('enable_seqscan', 'off', true)`;
  const { rows } = await db.query<Row>(statement(counting, question), [
    ...[organizationId, from, to, step, mostGroups],
    ...Object.values(where),
  ]);
  const series = [...Map.groupBy(rows, ({ id }) => id)].map(([id, its]) => {
    const steps = Map.groupBy(its, ({ ms }) => ms as number | null);
    const wholes = steps.get(null) ?? its;
    steps.delete(null);
    return {
      id: groupBy === 'statusCode' ? codeName(id) : id || null,
      name: its[0]?.name ?? null,
      total: counting.figures(wholes, true),
      points: [...steps].map(([ms, parts]) => ({
        at: new Date(ms ?? 0).toISOString(),
        figures: counting.figures(parts, false),
      })),
    };
  });
  return { series, groups: rows[0]?.groups ?? 0 };
}

// Longer than it takes to record what has happened, and than clocks of processes differ.
const RECORDING = `interval '30 seconds'`;

/** The beginning of the bucket that is still being filled. */
export function completeUntil(db: Queryable): Promise<Date> {
  return sql(db).value<Date>`select ${raw(bucketOf(`now() - ${RECORDING}`))}`;
}

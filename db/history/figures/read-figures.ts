// Reads the figures of an organization (GET /api/metrics): of what came in from the roll-ups of ingest (ingest_stats, ingest_counts) and of
// refused webhooks (refusal_counts), all others as delivery-figures.ts and figure-latencies.ts say. It reads ranges of indexes, as
// many rows as there are buckets and causes in its time, and never the records themselves.
// Rules: METRIC-06 to METRIC-10, METRIC-15.
import type { Queryable } from '../../connections/pool.ts';
import { bucketOf, INGESTED } from '../../sql-rules.ts';
import { readDeliveryFigures } from './delivery-figures.ts';
import { readLatencies } from './figure-latencies.ts';
import {
  type FigureAnswer,
  type FigureQuestion,
  IN_TIME,
  msOf,
  type Narrowing,
  STEP_OF_BUCKET,
} from './figure-series.ts';
import { FigureSums } from './figure-sums.ts';

/** What is counted when a webhook comes in. */
type Taken = 'events' | 'filtered' | 'refused';

// Of each source or route the times of its buckets and their counts, as two lists: rows would take five times as long to read.
const ingested = (table: string, ids: string, column: 'events' | 'filtered'): string => `
  select ${ids}, null as cause, i.* from ${table} s
  cross join lateral (
    select json_agg((${msOf('s.at')})::bigint) as at, json_agg(count) as counts from (
      select ${STEP_OF_BUCKET} as at, sum(${column}::float8) as count from ${INGESTED} where subject_id = s.id and ${IN_TIME} group by 1
    ) s
  ) i
  where s.organization_id = $1 and i.at is not null`;
const bySource = (column: 'events' | 'filtered') => ingested('sources', `s.id as "sourceId"`, column);
const byRoute = (column: 'events' | 'filtered') =>
  ingested('routes', `s.id as "routeId", s.source_id as "sourceId"`, column);

const REFUSED = `
  select s.id as "sourceId", r.* from sources s
  cross join lateral (
    select cause, json_agg((${msOf('s.at')})::bigint) as at, json_agg(count) as counts from (
      select cause, date_bin(make_interval(secs => $4), hour, 'epoch') as at, sum(refusals::float8) as count from refusal_counts
      where source_id = s.id and organization_id = $1 and hour >= $2 and hour < $3 group by 1, 2
    ) s group by 1
  ) r
  where s.organization_id = $1`;

/** $1 is the organization, $2 and $3 the time, $4 the step. */
const COUNTS: Record<Taken, (question: FigureQuestion) => string> = {
  // Each event once; by routes, once for each that took it.
  events: ({ groupBy, where }) => (groupBy === 'route' || where.routeId !== undefined ? byRoute : bySource)('events'),
  filtered: () => byRoute('filtered'),
  refused: () => REFUSED,
};

interface CountsRow extends Partial<Record<Narrowing, string>> {
  /** Of \`refused\`. */
  cause: string | null;
  /** Beginnings of steps, ms since 1970, and what was counted in each. */
  at: number[];
  counts: number[];
}

// Longer than it takes to record what has happened, and than clocks of processes differ.
const RECORDING = `interval '30 seconds'`;

/** The beginning of the bucket that is still being filled. */
export async function completeUntil(db: Queryable): Promise<Date> {
  const { rows } = await db.query<{ until: Date }>(`select ${bucketOf(`now() - ${RECORDING}`)} as until`);
  return rows[0]?.until ?? new Date(0);
}

/**
 * The figures of the groups with most; without groups there is one series.
 * @throws TooManyFiguresError when there are more than can be added up for one answer
 */
export async function readFigures(db: Queryable, question: FigureQuestion): Promise<FigureAnswer> {
  const { metric } = question;
  if (metric === 'latency') return readLatencies(db, question);
  if (metric === 'deliveries' || metric === 'attempts') return readDeliveryFigures(db, question, metric);
  const { organizationId, from, to, step, groupBy, where, mostGroups } = question;
  const { rows } = await db.query<CountsRow>(COUNTS[metric](question), [organizationId, from, to, step]);
  const asked = rows.filter((row) => Object.entries(where).every(([name, id]) => row[name as Narrowing] === id));
  const idOf = (row: CountsRow) => (groupBy === null || groupBy === 'statusCode' ? '' : (row[`${groupBy}Id`] ?? ''));
  const sums = new FigureSums<string>(step, 1);
  for (const row of asked) for (const count of row.counts) sums.weigh(idOf(row), count);
  sums.choose(mostGroups);
  for (const row of asked) {
    const part = row.cause ?? '';
    row.at.forEach((ms, index) => {
      if (row.counts[index] !== 0) sums.add(idOf(row), ms, { step: part, whole: part }, row.counts, index);
    });
  }
  return sums.answer(db, question, (parts) => {
    const causes = [...parts].map(([cause, [count = 0]]): [string, number] => [cause, count]);
    const total = causes.reduce((all, [, count]) => all + count, 0);
    return metric === 'refused' ? { refused: total, causes: Object.fromEntries(causes) } : { [metric]: total };
  });
}

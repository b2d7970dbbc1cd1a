// Percentiles of latencies, from the histogram of each destination (migration 0003). It knows destinations only, and those that are
// deleted no more.
// Rules: METRIC-11, METRIC-12.
import type { Queryable } from '../../connections/pool.ts';
import {
  answerOf,
  type FigureAnswer,
  type FigureQuestion,
  type FigureRow,
  IN_TIME,
  parametersOf,
  STEP_OF_BUCKET,
} from './figure-series.ts';

const ONE =
  'select id, 0 as answers, 1 as groups from destinations where organization_id = $1 and id = $6 and $5::int > 0';
const BUSIEST = `
  select d.id, s.answers, count(*) over () as groups from destinations d
  cross join lateral (select sum(latency_count) as answers from delivery_stats where destination_id = d.id and ${IN_TIME}) s
  where d.organization_id = $1 and s.answers > 0 order by 2 desc, 1 limit $5`;

const PERCENTILES = { p50: 0.5, p95: 0.95, p99: 0.99 };

// By nearest rank, as the health of a destination (statistics.ts): the smallest class that at least p of all attempts do not exceed.
const latencies = (chosen: string): string => `
with chosen as materialized (${chosen}
), step as (
  select c.id, ${STEP_OF_BUCKET} as at, l.latency, l.attempts from chosen c
  cross join lateral (select bucket, latency, attempts from latency_stats where destination_id = c.id and ${IN_TIME}) l
), class as (
  select id, at, latency, sum(attempts) as attempts from step group by grouping sets ((id, at, latency), (id, latency))
), ranked as (
  select id, at, latency, sum(attempts) over (partition by id, at order by latency) as up_to,
         sum(attempts) over (partition by id, at) as total
  from class
)
select r.id, r.at, d.name, c.groups::int as groups, r.total::float8 as attempts,
       ${Object.entries(PERCENTILES)
         .map(([name, p]) => `min(r.latency) filter (where r.up_to >= ceil(${p} * r.total)) as ${name}`)
         .join(', ')}
from ranked r join chosen c on c.id = r.id join destinations d on d.id = r.id
group by r.id, r.at, r.total, d.name, c.groups, c.answers
order by c.answers desc, r.id, r.at`;

interface LatencyRow extends FigureRow {
  attempts: number;
  p50: number;
  p95: number;
  p99: number;
}

/** Latencies of one destination, or of the busiest ones. */
export async function readLatencies(db: Queryable, question: FigureQuestion): Promise<FigureAnswer> {
  const { destinationId } = question.where;
  const only = destinationId === undefined ? [] : [destinationId];
  const { rows } = await db.query<LatencyRow>(latencies(destinationId === undefined ? BUSIEST : ONE), [
    ...parametersOf(question),
    ...only,
  ]);
  // Of one destination there is one series, without its id, as without groups everywhere.
  const shown = question.groupBy === null ? rows.map((row) => ({ ...row, id: '', name: null })) : rows;
  return answerOf(shown, ([row]) => ({
    attempts: row?.attempts ?? 0,
    p50: row?.p50 ?? null,
    p95: row?.p95 ?? null,
    p99: row?.p99 ?? null,
  }));
}

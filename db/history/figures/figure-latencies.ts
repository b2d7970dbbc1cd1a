// Percentiles of latencies, from the histogram of each destination (latency_stats, latency_history). It knows destinations only, and those
// that are deleted no more.
// Rules: METRIC-11, METRIC-12.
import { keptStepOf, type KeptStep } from '../../../core/figure-steps.ts';
import { percentilesOf } from '../../../core/latency-classes.ts';
import type { Queryable } from '../../connections/pool.ts';
import {
  type FigureAnswer,
  type FigureQuestion,
  type Figures,
  IN_TIME,
  msOf,
  parametersOf,
  STEP_OF_BUCKET,
  timeTexts,
} from './figure-series.ts';

const HOUR_MS = 3_600_000;

const ONE =
  'select id, 0 as answers, 1 as groups from destinations where organization_id = $1 and id = $6 and $5::int > 0';
// Whole hours are counted by hours, so that this reads a dozen rows of each destination for one that is shown. $6 and $7: the first and
// the end of them.
const BUSIEST = `
  select d.id, s.answers, count(*) over () as groups from destinations d
  cross join lateral (
    select sum(attempts) as answers from (
      select attempts from latency_history where destination_id = d.id and step = 3600 and bucket >= $6 and bucket < $7
      union all
      select attempts from latency_history where destination_id = d.id and step = 300 and bucket >= $2 and bucket < $6
      union all
      select attempts from latency_history where destination_id = d.id and step = 300 and bucket >= $7 and bucket < $3
      union all
      select attempts from latency_stats where destination_id = d.id and ${IN_TIME}
    ) a
  ) s
  where d.organization_id = $1 and s.answers > 0 order by 2 desc, 1 limit $5`;

const PERCENTILES = [50, 95, 99];

// Of each chosen one the beginnings of its buckets and their histograms, as two lists: thousands of rows take longer to read. From what
// is packed in buckets of `keptStep`, and what is not packed yet.
const histograms = (chosen: string, keptStep: KeptStep): string => `
with chosen as materialized (${chosen}
)
select c.id, d.name, c.groups::int as groups, s.* from chosen c join destinations d on d.id = c.id
cross join lateral (
  select json_agg((${msOf('at')})::bigint)::text as times, json_agg(counts)::text as histograms from (
    select ${STEP_OF_BUCKET} as at, counts from latency_history
    where destination_id = c.id and step = ${keptStep} and ${IN_TIME}
    union all
    select ${STEP_OF_BUCKET}, json_build_array(latency, attempts) from latency_stats where destination_id = c.id and ${IN_TIME}
    order by at
  ) b
) s
where s.times is not null order by c.answers desc, c.id`;

interface DestinationRow {
  id: string;
  name: string;
  groups: number;
  /** JSON: a number, and a list of numbers, for each bucket. */
  times: string;
  histograms: string;
}

/** Latencies of one destination, or of the busiest ones. */
export async function readLatencies(db: Queryable, question: FigureQuestion): Promise<FigureAnswer> {
  const { destinationId } = question.where;
  const [chosen, values] = destinationId === undefined ? [BUSIEST, wholeHours(question)] : [ONE, [destinationId]];
  const statement = histograms(chosen, keptStepOf(question.step));
  const { rows } = await db.query<DestinationRow>(statement, [...parametersOf(question), ...values]);
  const text = timeTexts();
  const series = rows.map((row) => {
    const times = JSON.parse(row.times) as number[];
    const all = JSON.parse(row.histograms) as number[][];
    const steps = Map.groupBy(times.keys(), (index) => times[index] ?? 0);
    return {
      // Of one destination there is one series, without its id, as without groups everywhere.
      ...(question.groupBy === null ? { id: null, name: null } : { id: row.id, name: row.name }),
      total: figuresOf(all),
      points: [...steps].map(([ms, buckets]) => ({
        at: text(ms),
        figures: figuresOf(buckets.map((index) => all[index] ?? [])),
      })),
    };
  });
  return { series, groups: rows[0]?.groups ?? 0 };
}

function figuresOf(histograms: number[][]): Figures {
  const { attempts, latencies } = percentilesOf(histograms, PERCENTILES);
  const [p50 = null, p95 = null, p99 = null] = latencies;
  return { attempts, p50, p95, p99 };
}

/** The first whole hour of a time, and the end of the last one. */
function wholeHours({ from, to }: FigureQuestion): [first: Date, end: Date] {
  const first = Math.min(Math.ceil(from.getTime() / HOUR_MS) * HOUR_MS, to.getTime());
  return [new Date(first), new Date(Math.max(first, Math.floor(to.getTime() / HOUR_MS) * HOUR_MS))];
}

// Statistics are written in buckets of 5 minutes (migration 0003). After a day nobody needs that resolution: the buckets of an
// hour are merged into the first one. So a month is summed from hundreds of rows and not from tens of thousands, and the
// statement that sums does not know the difference. A window of more than a day begins at a whole hour.
// The figures of organizations (migration 0063), which have more rows for each bucket, are merged once more, into days.
import { DAYS_AFTER_MS, HOURS_AFTER_MS } from '../../../core/figure-steps.ts';
import { databaseTime } from '../../clock.ts';
import { FIGURES, FIGURES_KEY } from '../../delivery/count-figures.ts';
import type { Pool } from '../../connections/pool.ts';
import { type Pages, Stride, takeUnlocked, throughPages } from '../../ranges.ts';
import { addedUp, ALL_TIME } from '../../sql-rules.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
// No query covers more than 30 days: neither the window of health, nor the statistics of a route.
const KEPT_MS = 31 * 24 * HOUR_MS;

// One statement deletes the merged buckets and adds them to the first bucket of their hour. A later result for a deleted bucket
// creates a new row, which is summed like any other; so is a bucket that was locked just then, and is merged an hour later. The
// bucket 'epoch' holds the totals of all time.
// `width` is the interval of a merged bucket, which may depend on its age.
const merging = (table: string, into: string, width = `interval '1 hour'`) => `
with merged as (
  ${takeUnlocked(table, `bucket < $3 and bucket > ${ALL_TIME} and (bucket <> date_bin(${width}, bucket, 'epoch') or bucket < $4)`)}
), young as (
  select *, date_bin(${width}, bucket, 'epoch') as hour from merged where bucket >= $4
), added as (
  ${into}
)
select count(*)::int as merged from merged`;

const MERGE: [table: string, statement: string][] = [
  [
    'ingest_stats',
    `insert into ingest_stats as s (subject_id, bucket, events, filtered, last_event_at)
     select subject_id, hour, sum(events), sum(filtered), max(last_event_at) from young group by 1, 2 order by 1, 2
     ${addedUp('subject_id, bucket', ['events', 'filtered'], ['last_event_at'])}`,
  ],
  [
    'delivery_stats',
    `insert into delivery_stats as s (destination_id, route_id, bucket, succeeded, failed, failed_over, unsent, latency_sum, latency_count,
                                      last_delivery_at, last_success_at, last_failure_at)
     select destination_id, route_id, hour, sum(succeeded), sum(failed), sum(failed_over), sum(unsent), sum(latency_sum), sum(latency_count),
            max(last_delivery_at), max(last_success_at), max(last_failure_at)
     from young group by 1, 2, 3 order by 1, 2, 3
     ${addedUp(
       'destination_id, route_id, bucket',
       ['succeeded', 'failed', 'failed_over', 'unsent', 'latency_sum', 'latency_count'],
       ['last_delivery_at', 'last_success_at', 'last_failure_at'],
     )}`,
  ],
  [
    'latency_stats',
    `insert into latency_stats as s (destination_id, bucket, latency, attempts)
     select destination_id, hour, latency, sum(attempts) from young group by 1, 2, 3 order by 1, 2, 3
     ${addedUp('destination_id, bucket, latency', ['attempts'])}`,
  ],
].map(([table = '', into = '']) => [table, merging(table, into)]);

// $5: buckets before it are days.
const MERGE_FIGURES = merging(
  'delivery_figures',
  `insert into delivery_figures as s (${FIGURES_KEY}, ${FIGURES.join(', ')})
   select ${FIGURES_KEY.replace('bucket', 'hour')}, ${FIGURES.map((column) => `sum(${column})`).join(', ')}
   from young group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
   ${addedUp(FIGURES_KEY, FIGURES)}`,
  `case when bucket < $5 then interval '1 day' else interval '1 hour' end`,
);

// Pages that one statement goes through.
const MERGING = new Stride(2000);

/**
 * Merges the hours that are old enough, and removes expired buckets, page by page. After an hour was merged there is nothing to
 * do until the next one is old enough.
 * @param forMs stops after this time, ms, when something was merged
 * @returns true when there is more to merge right now
 * @throws a database error; everything that was merged before it stays merged
 */
export async function mergeBuckets(pool: Pool, forMs: number): Promise<boolean> {
  const until = performance.now() + forMs;
  const now = await databaseTime(pool);
  const end = Math.floor((now - HOURS_AFTER_MS) / HOUR_MS) * HOUR_MS;
  const days = Math.floor((now - DAYS_AFTER_MS) / DAY_MS) * DAY_MS;
  const { rows } = await pool.query<{ merged_before: Date }>('select merged_before from history_progress');
  if ((rows[0]?.merged_before.getTime() ?? end) >= end) return false;
  const bounds = [new Date(end), new Date(end - KEPT_MS)];
  const work: [table: string, statement: string, bounds: Date[]][] = [
    ...MERGE.map(([table, statement]): [string, string, Date[]] => [table, statement, bounds]),
    ['delivery_figures', MERGE_FIGURES, [...bounds, new Date(days)]],
  ];
  for (const [table, statement, values] of work) {
    const look = async ({ from, to }: Pages) => {
      const result = await pool.query<{ merged: number }>(statement, [from, to, ...values]);
      return result.rows[0]?.merged ?? 0;
    };
    const mayGoOn = (merged: number) => merged === 0 || performance.now() < until;
    if (!(await throughPages(pool, table, MERGING, look, mayGoOn))) return true;
  }
  await pool.query('update history_progress set merged_before = $1 where merged_before < $1', [new Date(end)]);
  return false;
}

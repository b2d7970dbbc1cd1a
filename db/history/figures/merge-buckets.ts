// Statistics are written in buckets of 5 minutes. After a day nobody needs that resolution: the buckets of an
// hour are merged into the first one. So a month is summed from hundreds of rows and not from tens of thousands, and the
// statement that sums does not know the difference. A window of more than a day begins at a whole hour.
// Figures and latencies are packed instead (pack-figures.ts).
import { HOURS_AFTER_MS } from '../../../core/figure-steps.ts';
import { databaseTime } from '../../clock.ts';
import type { Pool } from '../../connections/pool.ts';
import { type Pages, Stride, takeUnlocked, throughPages } from '../../ranges.ts';
import { addedUp, ALL_TIME } from '../../sql-rules.ts';
import { forgetFigures } from './pack-figures.ts';

const HOUR_MS = 3_600_000;
// No query covers more than 30 days: neither the window of health, nor the statistics of a route.
const KEPT_MS = 31 * 24 * HOUR_MS;

// One statement deletes the merged buckets and adds them to the first bucket of their hour. A later result for a deleted bucket
// creates a new row, which is summed like any other; so is a bucket that was locked just then, and is merged an hour later. The
// bucket 'epoch' holds the totals of all time.
const merging = (table: string, into: string) => `
with merged as (
  ${takeUnlocked(table, `bucket < $3 and bucket > ${ALL_TIME} and (bucket <> date_bin('1 hour', bucket, 'epoch') or bucket < $4)`)}
), young as (
  select *, date_bin('1 hour', bucket, 'epoch') as hour from merged where bucket >= $4
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
].map(([table = '', into = '']) => [table, merging(table, into)]);

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
  const { rows } = await pool.query<{ merged_before: Date }>('select merged_before from history_progress');
  if ((rows[0]?.merged_before.getTime() ?? end) >= end) return false;
  const bounds = [new Date(end), new Date(end - KEPT_MS)];
  for (const [table, statement] of MERGE) {
    const look = async ({ from, to }: Pages) => {
      const result = await pool.query<{ merged: number }>(statement, [from, to, ...bounds]);
      return result.rows[0]?.merged ?? 0;
    };
    const mayGoOn = (merged: number) => merged === 0 || performance.now() < until;
    if (!(await throughPages(pool, table, MERGING, look, mayGoOn))) return true;
  }
  await forgetFigures(pool);
  await pool.query('update history_progress set merged_before = $1 where merged_before < $1', [new Date(end)]);
  return false;
}

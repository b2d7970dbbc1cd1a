// Statistics are written in buckets of 5 minutes (migration 0003). A day later that is finer than anyone asks: the buckets of
// an hour become one, which bears the time of the first. So a month is summed from hundreds of rows and not from tens of
// thousands, and the statement that sums does not know the difference. A window of more than a day begins at a whole hour.
import { databaseTime } from '../clock.ts';
import { inTransaction, type Pool } from '../pool.ts';

const HOUR_MS = 3_600_000;
// Windows of up to a day are summed from buckets of 5 minutes.
const AFTER_MS = 25 * HOUR_MS;
// Nobody asks for more than 30 days: neither the window of health, nor the statistics of a route.
const KEPT_MS = 31 * 24 * HOUR_MS;

// What is merged is deleted and added to the first bucket in one statement. A result that comes for a bucket that is gone
// makes a new row, which is summed like any other.
const MERGE = [
  `with merged as (
     delete from ingest_stats where bucket > $1 and bucket < $2 returning *
   )
   insert into ingest_stats as s (subject_id, bucket, events, filtered, last_event_at)
   select subject_id, $1, sum(events), sum(filtered), max(last_event_at) from merged group by 1 order by 1
   on conflict (subject_id, bucket) do update
     set events = s.events + excluded.events, filtered = s.filtered + excluded.filtered,
         last_event_at = greatest(s.last_event_at, excluded.last_event_at)`,
  `with merged as (
     delete from delivery_stats where bucket > $1 and bucket < $2 returning *
   )
   insert into delivery_stats as s (destination_id, route_id, bucket, succeeded, failed, failed_over, unsent, latency_sum, latency_count,
                                    last_delivery_at, last_success_at, last_failure_at)
   select destination_id, route_id, $1, sum(succeeded), sum(failed), sum(failed_over), sum(unsent), sum(latency_sum), sum(latency_count),
          max(last_delivery_at), max(last_success_at), max(last_failure_at)
   from merged group by 1, 2 order by 1, 2
   on conflict (destination_id, route_id, bucket) do update
     set succeeded = s.succeeded + excluded.succeeded, failed = s.failed + excluded.failed,
         failed_over = s.failed_over + excluded.failed_over, unsent = s.unsent + excluded.unsent,
         latency_sum = s.latency_sum + excluded.latency_sum, latency_count = s.latency_count + excluded.latency_count,
         last_delivery_at = greatest(s.last_delivery_at, excluded.last_delivery_at),
         last_success_at = greatest(s.last_success_at, excluded.last_success_at),
         last_failure_at = greatest(s.last_failure_at, excluded.last_failure_at)`,
  `with merged as (
     delete from latency_stats where bucket > $1 and bucket < $2 returning *
   )
   insert into latency_stats as l (destination_id, bucket, latency, attempts)
   select destination_id, $1, latency, sum(attempts) from merged group by 1, 3 order by 1, 3
   on conflict (destination_id, bucket, latency) do update set attempts = l.attempts + excluded.attempts`,
];

/**
 * Merges the hours that are old enough, oldest first.
 * @param forMs begins no further hour after this time, ms
 * @returns true when there is more to merge right now
 * @throws a database error; every hour that was merged before it stays merged
 */
export async function mergeBuckets(pool: Pool, forMs: number): Promise<boolean> {
  const until = performance.now() + forMs;
  const end = Math.floor(((await databaseTime(pool)) - AFTER_MS) / HOUR_MS) * HOUR_MS;
  for (;;) {
    const before = await mergeHour(pool, end);
    if (before >= end) return false;
    if (performance.now() > until) return true;
  }
}

/** @returns the time before which everything is merged now, ms */
async function mergeHour(pool: Pool, end: number): Promise<number> {
  return inTransaction(pool, async (db) => {
    // Whoever comes second waits here and goes on where the first one ended.
    const { rows } = await db.query<{ merged_before: Date }>('select merged_before from history_progress for update');
    const hour = rows[0]?.merged_before.getTime() ?? end;
    if (hour >= end) return hour;
    const bounds = [new Date(hour), new Date(hour + HOUR_MS)];
    for (const statement of MERGE) await db.query(statement, bounds);
    for (const table of ['latency_stats', 'ingest_stats', 'delivery_stats']) {
      // The bucket 'epoch' holds the totals of all time.
      await db.query(`delete from ${table} where bucket > timestamptz 'epoch' and bucket < $1`, [
        new Date(hour - KEPT_MS),
      ]);
    }
    await db.query('update history_progress set merged_before = $1', [bounds[1]]);
    return hour + HOUR_MS;
  });
}

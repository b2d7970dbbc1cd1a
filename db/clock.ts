// The clock of the database. Clocks of processes differ from it and from each other, and jump when they are set. So times that
// one process writes and another compares use the database clock, and durations inside one process use the monotonic clock
// (performance.now).
import type { Queryable } from './connections/pool.ts';

/** What the clocks of processes that make ids may differ by, ms: each is an hour off at most, and some time passes in between. */
export const CLOCK_SKEW_MS = 3 * 3_600_000;

/** SQL expression: the time of the database clock, whole milliseconds since 1970. */
export const NOW_MS = 'floor(extract(epoch from clock_timestamp()) * 1000)::float8';

/** The time of the database clock, whole milliseconds since 1970. */
export async function databaseTime(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ now: number }>(`select ${NOW_MS} as now`);
  if (!rows[0]) throw new Error('The database did not tell the time');
  return rows[0].now;
}

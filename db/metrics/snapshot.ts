// The row with the figures of the whole installation: claimed by one process at a time, read by all.
import type { Figures } from '../../core/metrics/snapshot.ts';
import { jsonParameter } from '../parameters.ts';
import type { Queryable } from '../connections/pool.ts';

// Figures of the future were taken before the clock was set back.
const IS_DUE = `(next_at <= now() or taken_at > now() + interval '1 minute')`;

/** The figures as they were written last. */
export interface Snapshot {
  figures: Figures;
  /** By the clock of the database, ms; null before the first ones. */
  ageMs: number | null;
  /** Whether the next ones may be taken. */
  isDue: boolean;
}

export async function readSnapshot(db: Queryable): Promise<Snapshot> {
  const { rows } = await db.query<Snapshot>(
    `select figures, ${IS_DUE} as "isDue",
            case when taken_at > '-infinity' then (extract(epoch from now() - taken_at) * 1000)::float8 end as "ageMs"
     from metrics_snapshot`,
  );
  return rows[0] ?? { figures: {}, ageMs: null, isDue: false };
}

/**
 * Claims the next figures. Of several processes one succeeds: the others find the row changed when they get its lock.
 * @param forMs how long the claim holds; if the process dies, another one claims afterwards
 */
export async function claimSnapshot(db: Queryable, by: string, forMs: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update metrics_snapshot
     set next_at = now() + make_interval(secs => $2::float8 / 1000), taken_by = $1, taken_at = least(taken_at, now())
     where ${IS_DUE}`,
    [by, forMs],
  );
  return rowCount === 1;
}

/** Writes what was taken under a claim; a claim that has run out and was given to another process writes nothing. */
export async function writeSnapshot(db: Queryable, by: string, figures: Figures, restMs: number): Promise<void> {
  await db.query(
    `update metrics_snapshot
     set figures = $2, taken_at = clock_timestamp(), next_at = clock_timestamp() + make_interval(secs => $3::float8 / 1000)
     where taken_by = $1`,
    [by, jsonParameter(figures), restMs],
  );
}

/** Gives a claim back: another process takes the figures at once. */
export async function releaseSnapshot(db: Queryable, by: string): Promise<void> {
  await db.query('update metrics_snapshot set next_at = now(), taken_by = null where taken_by = $1', [by]);
}

// Folds what was counted at ingest (ingest_counts) into the roll-up with one row for each bucket. Readers sum both, so they see the
// same before and after it, in any snapshot.
import type { Pool } from '../../connections/pool.ts';
import { type Pages, Stride, takeUnlocked, throughPages } from '../../ranges.ts';
import { addedUp, bucketsOf } from '../../sql-rules.ts';

// Buckets that began so long ago get no more counts, or hardly any: a late one makes a new row. One that is counted at the moment is
// folded next time.
const AFTER = `interval '10 minutes'`;
// Pages that one statement goes through.
const FOLDING = new Stride(500);

const FOLD = `
with moved as (
  ${takeUnlocked('ingest_counts', `bucket < now() - ${AFTER}`)}
), folded as (
  insert into ingest_stats as s (subject_id, bucket, events, filtered, last_event_at)
  select m.subject_id, b.bucket, sum(m.events), sum(m.filtered), max(m.last_event_at)
  from moved m cross join lateral ${bucketsOf('m.bucket')}
  group by 1, 2 order by 1, 2
  ${addedUp('subject_id, bucket', ['events', 'filtered'], ['last_event_at'])}
)
select count(*)::int as folded from moved`;

/**
 * @param forMs stops after this time, ms, when something was folded
 * @returns whether time sufficed
 * @throws a database error; what was folded before it stays folded
 */
export function foldIngest(pool: Pool, forMs: number): Promise<boolean> {
  const until = performance.now() + forMs;
  const look = async ({ from, to }: Pages) => {
    const { rows } = await pool.query<{ folded: number }>(FOLD, [from, to]);
    return rows[0]?.folded ?? 0;
  };
  return throughPages(pool, 'ingest_counts', FOLDING, look, (folded) => folded === 0 || performance.now() < until);
}

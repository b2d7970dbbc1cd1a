// The size of the backlog and of the database: read periodically by every API process, never per request.
import type { Waiting } from '../../core/backlog-limit.ts';
import { inSnapshot, type Pool, type Queryable } from '../pool.ts';

const PAGE_BYTES = 8192;
// Upper bound of the rows on a page: a row of either table has 23 bytes of header, 4 of its pointer and five ids of 31 bytes.
const MAX_ROWS_PER_PAGE = 44;

/**
 * An upper bound of the backlog. It uses the sizes of the files, so it is cheap at any size; dead rows count until their pages
 * are freed.
 */
export async function waitingAtMost(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ bytes: number }>(
    `select pg_relation_size('outbox') + pg_relation_size('held_deliveries') as bytes`,
  );
  return ((rows[0]?.bytes ?? 0) / PAGE_BYTES) * MAX_ROWS_PER_PAGE;
}

// Destinations beyond these have less than a thousandth of the backlog.
const WAITING = `
select destination_id as id, sum(waiting)::bigint as waiting, (sum(sum(waiting)) over ())::bigint as total
from (
  select destination_id, count(*) as waiting from outbox group by destination_id
  union all
  select destination_id, count(*) from held_deliveries group by destination_id
) w
group by destination_id order by 2 desc limit 1000`;

/**
 * Counts the backlog: deliveries without a result of their first attempt, and those that a circuit holds. About 50 ms for 100,000
 * of them and 350 ms for a million, of one core.
 */
export function countWaiting(pool: Pool): Promise<Waiting> {
  return inSnapshot(pool, async (db) => {
    // It may be slow, but must not take more than one core.
    await db.query('set local max_parallel_workers_per_gather = 0');
    const { rows } = await db.query<{ id: string; waiting: number; total: number }>(WAITING);
    return { total: rows[0]?.total ?? 0, destinations: rows.map(({ id, waiting }) => ({ id, waiting })) };
  });
}

/** Size of this database on disk, bytes: Hookyard's own, without Temporal's and without WAL. */
export async function databaseBytes(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ bytes: number }>('select pg_database_size(current_database()) as bytes');
  return rows[0]?.bytes ?? 0;
}

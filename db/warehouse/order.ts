// The order in which the files of a warehouse are frozen and written. Keys sort by the first, and loaders go by the second: a later file
// must have a later time, and nobody may see it before one with an earlier time. So anyone who freezes or writes a file of a destination
// takes the time after all others before it have committed. It is the time of the database's clock, or a ms after the latest of the
// destination: a clock that was set back changes nothing, nor does another server after a failover.
// Rules: WH-40, WH-41.
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { LOCKS } from '../sql/rules.ts';
import type { WarehouseKey } from './flushes.ts';

const nextOf = (column: 'frozen_at' | 'uploaded_at'): string => `
select greatest(date_trunc('milliseconds', clock_timestamp()), max(${column}) + interval '1 millisecond') as time
from warehouse_batches where organization_id = $1 and destination_id = $2`;

const NEXT = { frozen: nextOf('frozen_at'), written: nextOf('uploaded_at') };

/**
 * Runs a transaction with the next time of a destination's order.
 * @param time later than that of every file before, no matter who froze or wrote it
 */
export function inOrder<T>(
  pool: Pool,
  { organizationId, destinationId }: WarehouseKey,
  kind: keyof typeof NEXT,
  work: (db: Queryable, time: Date) => Promise<T>,
): Promise<T> {
  return inTransaction(pool, async (db) => {
    await db.query('select pg_advisory_xact_lock($1, hashtext($2))', [LOCKS.warehouseOrder, destinationId]);
    // A statement of its own: it has to see what was committed while it waited for the lock.
    const { rows } = await db.query<{ time: Date }>(NEXT[kind], [organizationId, destinationId]);
    const [next] = rows;
    if (!next) throw new Error('PostgreSQL tells no time');
    return work(db, next.time);
  });
}

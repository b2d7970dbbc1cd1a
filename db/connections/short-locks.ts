// Statements that are about several organizations on a pool without a lock time-out: what one of them keeps locked must not hold the
// others up for long.
import { inTransaction, type Pool, type Queryable } from './pool.ts';

const LOCK_TIMEOUT_MS = 1000;

/**
 * Runs statements in a transaction of their own.
 * @throws a database error (`isLockTimeout`) when a row stays locked for a second; nothing has changed then
 */
export function withShortLocks<T>(pool: Pool, work: (db: Queryable) => Promise<T>): Promise<T> {
  return inTransaction(pool, async (db) => {
    await db.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    return work(db);
  });
}

// Changes of the schema and of rights, on a database that is in use.
import { LOCK_TIMEOUT_MS, untilLocked } from './lock-tries.ts';
import type { Queryable } from '../connections/pool.ts';
import { LOCKS } from '../sql-rules.ts';

/**
 * Runs statements as one transaction (several at once are one: PostgreSQL manual, 54.2.2.1), under the lock of the migrations:
 * processes that start together would change the same rows of the catalogue, and PostgreSQL refuses that (`tuple concurrently
 * updated`). A connection that has the lock already need not wait for it.
 * @throws a database error; after three minutes, that it got no lock
 */
export async function changeSchema(db: Queryable, statements: string[]): Promise<void> {
  const all = [
    // Every statement on a table that is waited for waits as well.
    `set local lock_timeout = ${LOCK_TIMEOUT_MS}`,
    `select pg_advisory_xact_lock(${LOCKS.migration})`,
    ...statements,
  ];
  await untilLocked(() => db.query(all.join(';\n')));
}

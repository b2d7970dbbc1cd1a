// Changes of the schema and of rights on a database that is in use. A lock on a table that is waited for keeps every
// later statement on that table waiting. So statements that need one give up after a short while, and are tried again
// after a pause.
import type { Queryable } from '../connections/pool.ts';
import { LOCKS } from '../sql/rules.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { isLockTimeout } from '../connections/database-errors.ts';

/**
 * Runs statements as one transaction (several at once are one: PostgreSQL manual, 54.2.2.1), under the lock of the
 * migrations: processes that start together would change the same rows of the catalogue, and PostgreSQL refuses that
 * (`tuple concurrently updated`). A connection that has the lock already need not wait for it.
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

/** How long they wait for a lock, ms. */
export const LOCK_TIMEOUT_MS = 2000;
const TRIES = 60;
const PAUSE_MS = 1000;

/** Runs work, again while it gets no lock. @throws what it throws; after three minutes, that it got no lock */
export async function untilLocked<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isLockTimeout(error) || tries === TRIES) throw error;
    }
    await delay(PAUSE_MS);
  }
}

// Statements that need a table for themselves, on a database that is in use. A lock that is waited for keeps every later statement
// on that table waiting. So they give up after a short while (`set local lock_timeout`), and are tried again after a pause.
import { setTimeout as delay } from 'node:timers/promises';
import { isLockTimeout } from '../connections/database-errors.ts';

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

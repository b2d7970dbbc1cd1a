// Work of housekeeping in steps, at half speed: after every step it rests for as long as the step took, so that at most one
// connection and half of its time are spent on it, however slow the machine is.
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../core/log.ts';
import { isTransientDatabaseError } from '../db/database-errors.ts';

/** How long one round takes, about. */
export const ROUND_MS = 20_000;
// After a deadlock with the statements that record results, or while the database is down.
const ERROR_PAUSE_MS = 1000;

/**
 * @param step returns whether it did something
 * @param until by the monotonic clock, ms
 * @returns true when time ran out before `step` was finished
 */
export async function repeat(step: () => Promise<boolean>, until: number, log: Log): Promise<boolean> {
  for (;;) {
    const began = performance.now();
    try {
      if (!(await step())) return false;
    } catch (error) {
      if (!isTransientDatabaseError(error)) throw error;
      log.warn({ error: String(error) }, 'a step of a deletion is made again');
      await delay(ERROR_PAUSE_MS);
    }
    if (performance.now() > until) return true;
    await delay(performance.now() - began);
  }
}

// Work of housekeeping in steps, at half speed: after every step it rests for as long as the step took, so that at most
// one connection and half of its time are spent on it, however slow the machine is.
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { isTransientDatabaseError } from '../../db/connections/database-errors.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { countFailure } from '../../db/operations/expired.ts';

export const ROUND_MS = 20_000;
// After a deadlock with the statements that record results, or while the database is down.
const ERROR_PAUSE_MS = 1000;
// What keeps failing for longer is left for a later round, so that other work of this one is done.
const MOST_FAILURES = 3;

/**
 * @param step returns whether it did something
 * @param until by the monotonic clock, ms
 * @returns true when time ran out before `step` was finished
 * @throws what `step` throws; a transient error of the database when it comes again and again, or when time has run out
 */
export async function repeat(step: () => Promise<boolean>, until: number, log: Log): Promise<boolean> {
  for (let failures = 0; ; ) {
    const began = performance.now();
    try {
      if (!(await step())) return false;
      failures = 0;
    } catch (error) {
      failures += 1;
      if (!isTransientDatabaseError(error) || failures >= MOST_FAILURES || performance.now() > until) throw error;
      log.warn({ cause: causeOf(error) }, 'a step of a deletion failed; trying again');
      await delay(ERROR_PAUSE_MS);
    }
    if (performance.now() > until) return true;
    await delay(performance.now() - began);
  }
}

export async function tellOfFailure(deps: { pool: Pool; log: Log }, part: string, error: unknown): Promise<void> {
  const { pool, log } = deps;
  log.error({ part, cause: causeOf(error) }, 'a housekeeping task failed; trying again in five minutes');
  // It may have failed because the database is away.
  await countFailure(pool, part, error).catch((reason: unknown) =>
    log.warn({ part, cause: causeOf(reason) }, 'failed to count a failed housekeeping task'),
  );
}

// Removes records whose leases have expired, and what deleting sources and destinations leaves to be done, in the background and at
// half speed: after every step it rests for as long as the step took, so that at most one connection and half of its time are
// spent on it, however slow the machine is.
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../core/log.ts';
import { cancelOfDeletedDestination } from '../db/delivery/deleted-destinations.ts';
import { type ExpiredLeases, removeExpired } from '../db/management/leases.ts';
import { isTransientDatabaseError } from '../db/database-errors.ts';
import type { Pool } from '../db/pool.ts';
import { purgeStep } from '../db/retention/source-purges.ts';

const ROUND_MS = 20_000;
// After a deadlock with the statements that record results, or while the database is down.
const ERROR_PAUSE_MS = 1000;

/**
 * One round of some seconds.
 * @returns true when there is more to do right now
 * @throws a database error that a retry does not fix; the steps before it are done
 */
export async function finishDeletions(pool: Pool, log: Log): Promise<boolean> {
  const until = performance.now() + ROUND_MS;
  const hasMoreToCancel = await repeat(() => cancelStep(pool, log), until, log);
  const hasMoreToRemove = await repeat(() => removeStep(pool, log), until, log);
  return hasMoreToCancel || hasMoreToRemove;
}

/**
 * One round of some seconds.
 * @returns true when there is more to do right now
 * @throws Error when records could not be removed; all others are
 */
export async function finishLeases(pool: Pool, log: Log): Promise<boolean> {
  let last: ExpiredLeases['last'] | undefined;
  const failed: ExpiredLeases['failed'] = [];
  const hasMore = await repeat(
    async () => {
      const step = await removeExpired(pool, last);
      if (step === null) return false;
      last = step.last;
      failed.push(...step.failed);
      tellOfExpired(step, log);
      return true;
    },
    performance.now() + ROUND_MS,
    log,
  );
  const [first] = failed;
  if (first) {
    const message = `${failed.length} records without a renewed lease could not be removed, ${first.id} for one`;
    throw new Error(message, { cause: first.error });
  }
  return hasMore;
}

function tellOfExpired({ removed, kept, failed }: ExpiredLeases, log: Log): void {
  if (removed.length + kept.length > 0) {
    const message = 'records were removed because nobody renewed their leases; sources with routes of others were kept';
    log.info({ removed, kept }, message);
  }
  for (const { id, error } of failed) log.warn({ id, err: error }, 'a record whose lease has expired was not removed');
}

/** @returns true when time ran out before `step` was finished */
async function repeat(step: () => Promise<boolean>, until: number, log: Log): Promise<boolean> {
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

async function cancelStep(pool: Pool, log: Log): Promise<boolean> {
  const step = await cancelOfDeletedDestination(pool);
  if (step === null) return false;
  log.info(step, 'deliveries to a deleted destination were cancelled');
  return true;
}

async function removeStep(pool: Pool, log: Log): Promise<boolean> {
  const step = await purgeStep(pool);
  if (step === null) return false;
  const { finished, ...progress } = step;
  if (finished) log.info(progress, 'everything of a deleted source has been removed');
  else if (progress.eventsRemoved % 100_000 === 0) log.info(progress, 'a deleted source is being removed');
  return true;
}

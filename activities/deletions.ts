// Removes records whose leases have expired, and what deleting sources and destinations leaves to be done, in the background and at
// half speed (background-steps.ts).
import type { Log } from '../core/log.ts';
import { cancelOfDeletedDestination } from '../db/delivery/deleted-destinations.ts';
import { type ExpiredLeases, removeExpired } from '../db/management/leases.ts';
import type { Pool } from '../db/pool.ts';
import { purgeStep } from '../db/retention/source-purges.ts';
import { repeat, ROUND_MS } from './background-steps.ts';

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

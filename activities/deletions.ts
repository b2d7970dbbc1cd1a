// Does what deleting sources and destinations leaves to be done, in the background and at half speed (background-steps.ts).
import type { Log } from '../core/process/log.ts';
import { causeOf } from '../core/process/log-cause.ts';
import { cancelOfDeletedDestination } from '../db/delivery/deleted-destinations.ts';
import type { Pool } from '../db/connections/pool.ts';
import { isOfRows } from '../db/connections/database-errors.ts';
import { nextPurge, purgeStep, type PurgeStep } from '../db/retention/source-purges.ts';
import { repeat, ROUND_MS, tellOfFailure } from './background-steps.ts';

// The log tells of the progress of a deletion each time so many more events are gone.
const TELL_EVERY = 100_000;

/**
 * One round of some seconds.
 * @returns true when there is more to do right now; what has failed is told of and counted all the same
 * @throws a database error that a retry does not fix, or one that keeps coming, when nothing else is to be done now
 */
export async function finishDeletions(pool: Pool, log: Log): Promise<boolean> {
  const errors: unknown[] = [];
  let hasMore = false;
  const fail = (error: unknown, id?: string) => {
    log.warn({ id, cause: causeOf(error) }, 'what a deletion has left cannot be removed now; it is tried again');
    errors.push(error);
  };
  // One after the other (background-steps.ts), and each of them has its time.
  for (const step of [cancelStep, removeStep]) {
    // What has failed is left out for the rest of the round, so that it keeps no other deletion waiting.
    const failed = new Map<string, unknown>();
    try {
      hasMore = (await repeat(() => step(pool, log, failed), performance.now() + ROUND_MS / 2, log)) || hasMore;
    } catch (error) {
      fail(error);
    }
    for (const [id, error] of failed) fail(error, id);
  }
  // The one that is thrown is told of by the caller.
  for (const error of hasMore ? errors : errors.slice(1)) await tellOfFailure({ pool, log }, 'deletions', error);
  if (errors.length > 0 && !hasMore) throw errors[0];
  return hasMore;
}

type Step = (pool: Pool, log: Log, failed: Map<string, unknown>) => Promise<boolean>;

const cancelStep: Step = async (pool, log, failed) => {
  const step = await cancelOfDeletedDestination(pool, failed);
  if (step === null) return false;
  // It may only have removed what the queue still held of deliveries that have ended.
  if (step.cancelled > 0) log.info(step, 'deliveries to a deleted destination were cancelled');
  return true;
};

const removeStep: Step = async (pool, log, failed) => {
  const sourceId = await nextPurge(pool, [...failed.keys()]);
  if (sourceId === null) return false;
  try {
    tellOfPurge(await purgeStep(pool, sourceId), log);
  } catch (error) {
    if (!isOfRows(error)) throw error;
    failed.set(sourceId, error);
  }
  return true;
};

function tellOfPurge(step: PurgeStep | null, log: Log): void {
  if (step === null) return;
  const { finished, eventsRemovedNow, ...progress } = step;
  const { eventsRemoved } = progress;
  const told = (events: number) => Math.floor(events / TELL_EVERY);
  if (finished) log.info(progress, 'everything of a deleted source has been removed');
  else if (told(eventsRemoved) > told(eventsRemoved - eventsRemovedNow))
    log.info(progress, 'a deleted source is being removed');
}

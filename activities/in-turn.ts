// Activities that take turns by organization: one that has to wait holds no slot, and Temporal asks again a little later.
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { FairQueue } from '../core/fairness/fair-queue.ts';
import { actingFor } from '../db/connections/pool-turns.ts';

// Each time it asks costs Temporal and the database something, so one that waits long asks rarely.
const FIRST_WAIT_MS = 1000;
const GROWTH = 1.5;
const LONGEST_WAIT_MS = 30_000;
const TYPE = 'TurnOfOthers';

/**
 * Runs an activity whose retry policy has no end, in a place of its organization.
 * @throws ApplicationFailure for a later retry while the organization has its share of the places
 */
export async function inTurn<Result>(
  places: FairQueue,
  organizationId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const leave = places.takeNow(organizationId);
  if (leave === null) {
    throw ApplicationFailure.create({
      message: 'Other work of this organization is under way; this waits for its turn',
      type: TYPE,
      nextRetryDelay: waitAfter(activityInfo().attempt),
    });
  }
  try {
    return await actingFor(organizationId, work);
  } finally {
    leave();
  }
}

/** @param attempt 1 for the first */
function waitAfter(attempt: number): number {
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * GROWTH ** (attempt - 1));
  // Not all at the same instant.
  return Math.round(longest * (0.5 + Math.random() / 2));
}

export const isTurnOfOthers = (error: unknown): boolean => error instanceof ApplicationFailure && error.type === TYPE;

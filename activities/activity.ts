// What activities run in: a heartbeat, so that Temporal does not take a long one for one whose worker has died, and a
// slot of their organization.
import { activityInfo, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { FairQueue } from '../core/fairness/fair-queue.ts';
import { actingFor } from '../db/connections/by-organization.ts';

// Well below the heartbeat timeouts of the workflows, so that one late beat does not look like a dead worker.
const HEARTBEAT_MS = 4000;

export async function withHeartbeat<Result>(work: () => Promise<Result>): Promise<Result> {
  const beat = setInterval(heartbeat, HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
}

// Each time it asks costs Temporal and the database something, so one that waits long asks rarely.
const FIRST_WAIT_MS = 1000;
const GROWTH = 1.5;
const LONGEST_WAIT_MS = 30_000;
const TYPE = 'TurnOfOthers';

/**
 * Runs an activity whose retry policy has no end, in a slot of its organization. One that has to wait holds no slot of
 * the worker, and Temporal asks again a little later.
 * @throws ApplicationFailure for a later retry while the organization has its share of the slots
 */
export async function inTurn<Result>(
  slots: FairQueue,
  organizationId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const leave = slots.takeNow(organizationId);
  if (leave === null) {
    throw ApplicationFailure.create({
      message: 'Waiting: other work for this organization is in progress',
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

function waitAfter(attempt: number): number {
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * GROWTH ** (attempt - 1));
  // Not all at the same instant.
  return Math.round(longest * (0.5 + Math.random() / 2));
}

export const isTurnOfOthers = (error: unknown): boolean => error instanceof ApplicationFailure && error.type === TYPE;

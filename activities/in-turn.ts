// Activities that take turns by organization: one that has to wait holds no slot, and Temporal asks again a little later.
import { ApplicationFailure } from '@temporalio/common';
import type { Places } from '../core/places.ts';
import { actingFor } from '../db/pool-turns.ts';

const ASK_AGAIN_MS = 1000;
const TYPE = 'TurnOfOthers';

/**
 * Runs an activity whose retry policy has no end, in a place of its organization.
 * @throws ApplicationFailure for a later retry while the organization has its share of the places
 */
export async function inTurn<Result>(
  places: Places,
  organizationId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const leave = places.take(organizationId);
  if (leave === null) {
    throw ApplicationFailure.create({
      message: 'Other work of this organization is under way; this waits for its turn',
      type: TYPE,
      // Not all at the same instant.
      nextRetryDelay: Math.round(ASK_AGAIN_MS * (0.5 + Math.random())),
    });
  }
  try {
    return await actingFor(organizationId, work);
  } finally {
    leave();
  }
}

export const isTurnOfOthers = (error: unknown): boolean => error instanceof ApplicationFailure && error.type === TYPE;

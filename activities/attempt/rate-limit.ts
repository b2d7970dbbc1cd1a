// The rate limit of a destination, as an attempt meets it: right before it sends, so that over any minute no more than
// `rateLimitPerMinute` + 1 requests leave, from all workers together, first attempts, retries and replays alike.
import { setTimeout as delay } from 'node:timers/promises';
import { postponeDelivery } from '../../db/delivery/delivery-commands.ts';
import type { AttemptContext } from '../../db/hot-path/load-attempts.ts';
import type { Pool } from '../../db/pool.ts';
import { lookAtSlot, queueForTurn, reserveSlot, type Slot, slotInterval } from '../../db/delivery/rate-limits.ts';
import type { DestinationConfig } from '../config-cache.ts';
import type { AttemptOutcome, AttemptRequest } from '../types.ts';

// A slot this near is waited for here; a later one by the workflow, which wakes up so much before it.
const NEAR_SLOT_MS = 250;
// The furthest slot that is reserved. What finds none before waits for its turn, because a reserved slot is lost when its delivery
// is cancelled, and outlasts a change of the limit.
const FURTHEST_SLOT_MS = 30_000;
// What the relay has to attempt, and what an earlier release has asked for, knows of no turns and is asked for again.
const LOOK_AGAIN_MS = 30_000;
// The relay signals a workflow when its turn has come, and the reconciliation one that has lost its place in the queue. Should both miss
// one, it looks by itself after this time.
const FORGOTTEN_MS = 6 * 3_600_000;

/**
 * Waits for the destination's slot.
 * @returns null when the request may leave now; else when to try again
 */
export async function awaitSlot(
  deps: { pool: Pool; onSlot: (destinationId: string, deliveryId: string) => void },
  context: AttemptContext,
  destination: DestinationConfig,
  request: AttemptRequest,
): Promise<AttemptOutcome | null> {
  const perMinute = destination.rateLimitPerMinute;
  if (perMinute === null) {
    await leaveQueue(deps.pool, context, request);
    return null;
  }
  const slot = await slotOf(deps.pool, destination.id, perMinute, request);
  deps.onSlot(destination.id, context.deliveryId);
  if (slot === null && request.waitsForTurn) {
    await queueForTurn(deps.pool, context.deliveryId);
    return { status: 'deferred', waitMs: FORGOTTEN_MS, queued: true };
  }
  if (slot === null) {
    await postponeDelivery(deps.pool, context.deliveryId, LOOK_AGAIN_MS);
    return { status: 'deferred', waitMs: LOOK_AGAIN_MS };
  }
  const { inMs, at: slotAt } = slot;
  if (inMs > NEAR_SLOT_MS) {
    await postponeDelivery(deps.pool, context.deliveryId, inMs);
    return { status: 'deferred', waitMs: Math.ceil(inMs - NEAR_SLOT_MS), slotAt };
  }
  await leaveQueue(deps.pool, context, request);
  if (inMs > 0) await delay(Math.ceil(inMs));
  return null;
}

/**
 * A row that stayed would be signalled again after a while, instead of the next one, while the attempt is on
 * the wire. The workflow makes the attempt again by itself should this worker die.
 */
async function leaveQueue(pool: Pool, { deliveryId }: AttemptContext, { queued }: AttemptRequest): Promise<void> {
  if (queued) await postponeDelivery(pool, deliveryId, 0);
}

/** The reserved slot, or a new one when there is none or it has passed: a slot is good until the next one begins. */
async function slotOf(
  pool: Pool,
  destinationId: string,
  perMinute: number,
  { slotAt }: AttemptRequest,
): Promise<Slot | null> {
  const reserved = slotAt === undefined ? null : await lookAtSlot(pool, slotAt);
  if (reserved && reserved.inMs >= -slotInterval(perMinute)) return reserved;
  return reserveSlot(pool, destinationId, perMinute, FURTHEST_SLOT_MS);
}

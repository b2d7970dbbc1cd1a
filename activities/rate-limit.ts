// The rate limit of a destination, as an attempt meets it: right before it sends, so that over any minute no more than
// `rateLimitPerMinute` + 1 requests leave, from all workers together, first attempts, retries and replays alike.
import { setTimeout as delay } from 'node:timers/promises';
import { postponeDelivery } from '../db/delivery-commands.ts';
import type { AttemptContext } from '../db/hot-path/load-attempts.ts';
import type { Pool } from '../db/pool.ts';
import { lookAtSlot, reserveSlot, type Slot, slotInterval } from '../db/rate-limits.ts';
import type { DestinationConfig } from './config-cache.ts';
import type { AttemptOutcome, AttemptRequest } from './types.ts';

// A slot this near is waited for here; a later one by the workflow, which wakes up so much before it.
const NEAR_SLOT_MS = 250;
// The furthest slot that is reserved; what finds none before asks again.
const FURTHEST_SLOT_MS = 3_600_000;
// A delivery that waits for its slot looks again after at most this time: the limit may have been raised or removed.
const LOOK_AGAIN_MS = 30_000;

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
  if (perMinute === null) return null;
  const slot = await slotOf(deps.pool, destination.id, perMinute, request);
  deps.onSlot(destination.id, context.deliveryId);
  if (slot === null) {
    await postponeDelivery(deps.pool, context.deliveryId, FURTHEST_SLOT_MS);
    return { status: 'deferred', waitMs: LOOK_AGAIN_MS };
  }
  const { inMs, at: slotAt } = slot;
  if (inMs > NEAR_SLOT_MS) {
    await postponeDelivery(deps.pool, context.deliveryId, inMs);
    return { status: 'deferred', waitMs: Math.min(LOOK_AGAIN_MS, Math.ceil(inMs - NEAR_SLOT_MS)), slotAt };
  }
  if (inMs > 0) await delay(Math.ceil(inMs));
  return null;
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

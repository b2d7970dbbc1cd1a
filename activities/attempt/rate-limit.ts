// Applies the rate limit of a destination right before an attempt is sent: in any minute, all workers together send at most
// `rateLimitPerMinute` + 1 requests, including first attempts, retries and replays.
import { setTimeout as delay } from 'node:timers/promises';
import type { Lane } from '../../core/delivery/lane.ts';
import { rateLimited } from '../../core/metrics/deliveries.ts';
import { postponeDelivery } from '../../db/delivery/delivery-commands.ts';
import type { AttemptContext } from '../../db/hot-path/load-attempts.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { lookAtSlot, queueForTurn, reserveSlot, type Slot, slotInterval } from '../../db/delivery/rate-limits.ts';
import type { DestinationConfig } from '../config-cache.ts';
import type { AttemptOutcome, AttemptRequest } from '../types.ts';

// The activity waits for slots this near; for later ones the workflow waits, and wakes up this long before the slot.
const NEAR_SLOT_MS = 250;
// Slots are reserved at most this far ahead. Other deliveries queue for their turn, because a reserved slot is lost when its
// delivery is cancelled, and does not follow a change of the limit.
const FURTHEST_SLOT_MS = 30_000;
// An attempt of the relay has no workflow that could be signalled when its turn has come: it is requested again.
export const LOOK_AGAIN_MS = 30_000;
// The relay signals a workflow when its turn has come, and the reconciliation signals one that lost its place in the queue. If
// both miss one, it checks again after this time.
export const FORGOTTEN_MS = 6 * 3_600_000;
/** The outcome of an attempt that is queued for its turn. */
export const QUEUED = { status: 'deferred', waitMs: FORGOTTEN_MS, queued: true } as const satisfies AttemptOutcome;

/**
 * Waits for the destination's slot.
 * @returns null when the request may leave now; else when to try again
 */
export async function awaitSlot(
  deps: { pool: Pool; onSlot: (destinationId: string, deliveryId: string) => void },
  context: AttemptContext,
  destination: DestinationConfig,
  { request, lane }: { request: AttemptRequest; lane: Lane },
): Promise<AttemptOutcome | null> {
  const perMinute = destination.rateLimitPerMinute;
  if (perMinute === null) {
    await leaveQueue(deps.pool, context, request);
    return null;
  }
  const slot = await slotOf(deps.pool, destination.id, perMinute, request);
  deps.onSlot(destination.id, context.deliveryId);
  if (slot === null || slot.inMs > NEAR_SLOT_MS) rateLimited.add({});
  if (slot === null && lane === 'workflow') {
    await queueForTurn(deps.pool, context.deliveryId);
    return QUEUED;
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
 * If the row stayed, it would be signalled again, instead of the next one, while the attempt is being sent. If this worker dies,
 * the workflow repeats the attempt without the row.
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

// What an attempt waits for before it is sent: its destination's rate limit and concurrency, and the end of its
// organization's suspension. While it waits longer than a moment it holds nothing here: the delivery goes back to the
// outbox.
import { setTimeout as delay } from 'node:timers/promises';
import type { Lane } from '../../core/delivery/delivery.ts';
import { rateLimited } from '../../core/metrics/deliveries.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { postponeDelivery } from '../../db/delivery/delivery-commands.ts';
import { lookAtSlot, queueForTurn, reserveSlot, type Slot, slotInterval } from '../../db/delivery/rate-limits.ts';
import type { AttemptContext } from '../../db/hot-path/load-attempts.ts';
import type { DestinationConfig } from '../config-cache.ts';
import type { AttemptOutcome, AttemptRequest } from '../types.ts';
import type { AttemptDeps } from './index.ts';

// The activity waits for slots this near; for later ones the workflow waits, and wakes up this long before the slot.
const NEAR_SLOT_MS = 250;
// Slots are reserved at most this far ahead. Other deliveries queue for their turn, because a reserved slot is lost
// when its delivery is cancelled, and does not follow a change of the limit.
const FURTHEST_SLOT_MS = 30_000;
// An attempt of the relay has no workflow that could be signalled when its turn has come: it is requested again.
const LOOK_AGAIN_MS = 30_000;
// The relay signals a workflow when its turn has come, and the reconciliation signals one that lost its position in the
// queue. If both miss one, it checks again after this time.
const FORGOTTEN_MS = 6 * 3_600_000;
export const QUEUED = { status: 'deferred', waitMs: FORGOTTEN_MS, queued: true } as const satisfies AttemptOutcome;

type WaitsFor = Extract<AttemptOutcome, { status: 'deferred' }>['for'];

/**
 * The delivery waits outside of this process, where it holds no slot that others need. It is no failed attempt.
 * @param isLeftToWorkflow as `postponeDelivery` has it
 */
export async function postpone(
  pool: Pool,
  deliveryId: string,
  waitMs: number,
  waitsFor: WaitsFor,
  isLeftToWorkflow: boolean = false,
): Promise<AttemptOutcome> {
  await postponeDelivery(pool, deliveryId, waitMs, isLeftToWorkflow);
  return { status: 'deferred', waitMs, for: waitsFor };
}

/**
 * Applies the rate limit of the destination: in any minute, all workers together send at most `rateLimitPerMinute` + 1
 * requests, first attempts, retries and replays included.
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
 * If the row stayed, it would be signalled again, instead of the next one, while the attempt is being sent. If this
 * worker dies, the workflow repeats the attempt without the row.
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

// The concurrency permit of an attempt at its destination (core/delivery/destination-concurrency.ts). First attempts
// have one from the relay (worker/relay/in-flight.ts), and so have retries whose turn the relay of this process has
// signalled. Other retries take one here; without one they wait in the outbox, in the order of their destination, and a
// relay signals their turn.
//
// That a retry was queued says nothing of its permit: the relay of another process may have signalled it, or nobody
// (`retryNow`, an open circuit, an activity that failed). So the relay is asked.

// The relay of another process that has signalled a retry keeps a slot for it until it sees that the retry has left the
// outbox: about as long after the signal as the retry took to come here, and 300 ms at least
// (worker/relay/in-flight.ts).
const PERMIT_AGAIN_MS = 1000;

type PermitDeps = Pick<AttemptDeps, 'concurrency' | 'pool' | 'hasPermit' | 'onRoom'>;

export class Permit {
  readonly #deps: PermitDeps;
  readonly #request: AttemptRequest;
  readonly #isNeeded: boolean;
  #destinationId: string | null = null;

  constructor(deps: PermitDeps, request: AttemptRequest, lane: Lane) {
    this.#deps = deps;
    this.#request = request;
    this.#isNeeded = lane === 'workflow' && request.attempt > 1;
  }

  /** Acquires the permit, unless it is held. @returns null, or that the delivery has to wait for one */
  async take(
    { id, maxConcurrency }: Pick<DestinationConfig, 'id' | 'maxConcurrency'>,
    { deliveryId }: Pick<AttemptContext, 'deliveryId'>,
  ): Promise<AttemptOutcome | null> {
    if (!this.#isNeeded || this.#destinationId === id) return null;
    this.leave();
    const { concurrency, pool, hasPermit } = this.#deps;
    if (hasPermit(deliveryId)) return null;
    concurrency.setMaximum(id, maxConcurrency);
    if (!concurrency.tryAcquire(id)) {
      // If it stayed in the outbox, the relay that has signalled it would keep a slot although nothing is under way.
      if (this.#request.queued) return postpone(pool, deliveryId, PERMIT_AGAIN_MS, 'destination');
      if (await queueForTurn(pool, deliveryId)) return { ...QUEUED, for: 'destination' };
      // It has ended: finding that out takes no time.
      concurrency.acquire(id);
    }
    this.#destinationId = id;
    return null;
  }

  leave(): void {
    const id = this.#destinationId;
    if (id === null) return;
    const { concurrency, onRoom } = this.#deps;
    const wasFull = !concurrency.hasRoom(id);
    concurrency.release(id);
    this.#destinationId = null;
    if (wasFull) onRoom();
  }
}

// Deliveries of suspended organizations wait in the outbox, where no relay claims them (db/hot-path/claim.ts). When the
// organization is resumed, the relay signals their workflows in the order of the outbox. No attempt and no retry is
// used up by waiting.

export async function waitForResumption(
  pool: Pool,
  { deliveryId }: AttemptContext,
  lane: Lane,
): Promise<AttemptOutcome> {
  if (lane === 'express') return postpone(pool, deliveryId, LOOK_AGAIN_MS, 'resumption');
  await queueForTurn(pool, deliveryId);
  return { ...QUEUED, for: 'resumption' };
}

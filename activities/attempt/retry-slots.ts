// Retries take turns by organization: those of one organization hold at most its share of the activity slots of a
// worker, however slow its destinations are. What is too much waits in the outbox, holds nothing, and is signalled by
// the relay when its organization has a slot in flight (worker/relay/in-flight.ts) and its turn at Temporal
// (core/fairness/workflow-permits.ts). First attempts come from there, so they have their turn already.
//
// Temporal may ask for an attempt again while it is under way here: it takes an activity for lost whose heartbeats do
// not reach it. The second request waits for the first.
//
// What was signalled and still finds no slot leaves the outbox for a moment: else the relay would keep its slot for it
// although nothing is under way, or signal it again at once.
import { FairQueue, type Leave } from '../../core/fairness/fair-queue.ts';
import type { WorkflowPermits } from '../../core/fairness/workflow-permits.ts';
import { actingFor } from '../../db/connections/by-organization.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { queueForTurn } from '../../db/delivery/rate-limits.ts';
import type { AttemptOutcome, AttemptRequest } from '../types.ts';
import { postpone, QUEUED } from './rate-and-concurrency.ts';

// The part of the slots up to which the relays' signals count, whatever is free: relays are several, and each knows
// only its own slots.
const SIGNALLED_UP_TO = 3 / 4;
// Longer than the relay of another process takes to see that the delivery is not under way (worker/relay/in-flight.ts).
const COME_BACK_MS = 8000;

export type RetrySlots = ReturnType<typeof createRetrySlots>;

interface RetrySlotsDeps {
  pool: Pool;
  slots: number;
  workflowPermits: Pick<WorkflowPermits, 'tryAcquire'>;
}

export function createRetrySlots({ pool, slots, workflowPermits }: RetrySlotsDeps) {
  const queue = new FairQueue(slots);
  const mostSignalled = SIGNALLED_UP_TO * slots;
  const running = new Map<string, { number: number; outcome: Promise<AttemptOutcome> }>();

  function underWay({ deliveryId, attempt }: AttemptRequest): Promise<AttemptOutcome> | undefined {
    const known = running.get(deliveryId);
    return known?.number === attempt ? known.outcome : undefined;
  }

  /**
   * Makes an attempt that needs no turn.
   * @returns the outcome of the same attempt if this process is making it already
   */
  function once(request: AttemptRequest, attempt: () => Promise<AttemptOutcome>): Promise<AttemptOutcome> {
    const same = underWay(request);
    if (same !== undefined) return same;
    const { deliveryId } = request;
    const outcome = attempt().finally(() => {
      if (running.get(deliveryId) === own) running.delete(deliveryId);
    });
    const own = { number: request.attempt, outcome };
    running.set(deliveryId, own);
    return outcome;
  }

  function take(organizationId: string, { attempt, queued, released }: AttemptRequest): Leave | null {
    if (attempt === 1) return queue.enter(organizationId);
    if (queued) return queue.heldBy(organizationId) < mostSignalled ? queue.enter(organizationId) : null;
    return released || workflowPermits.tryAcquire(organizationId) ? queue.takeNow(organizationId) : null;
  }

  return {
    /** Makes an attempt, as `once`. @returns `deferred` when it was not made: the delivery waits for its turn */
    async inTurn(request: AttemptRequest, attempt: () => Promise<AttemptOutcome>): Promise<AttemptOutcome> {
      const { organizationId, deliveryId } = request;
      // It has its turn already.
      if (underWay(request) !== undefined) return once(request, attempt);
      let leave = take(organizationId, request);
      if (leave === null) {
        if (request.queued) return actingFor(organizationId, () => postpone(pool, deliveryId, COME_BACK_MS, 'slots'));
        if (await actingFor(organizationId, () => queueForTurn(pool, deliveryId))) return QUEUED;
        // It has ended: finding that out takes no time.
        leave = queue.enter(organizationId);
      }
      try {
        return await once(request, () => actingFor(organizationId, attempt));
      } finally {
        leave();
      }
    },
    once,
    isRunning: (deliveryId: string): boolean => running.has(deliveryId),
  };
}

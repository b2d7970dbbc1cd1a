// The place of an attempt at its destination (core/delivery/destination-places.ts). First attempts have one from the relay
// (worker/relay/in-flight.ts), and so have retries whose turn the relay of this process has signalled. Other retries take one here; without
// one they wait in the outbox, in the order of their destination, and a relay signals their turn.
//
// That a retry was queued says nothing of its place: the relay of another process may have signalled it, or nobody (`retryNow`, an
// open circuit, an activity that failed). So the relay is asked.
import type { Lane } from '../../core/delivery/lane.ts';
import type { AttemptContext } from '../../db/hot-path/load-attempts.ts';
import { postponeDelivery } from '../../db/delivery/delivery-commands.ts';
import { queueForTurn } from '../../db/delivery/rate-limits.ts';
import type { DestinationConfig } from '../config-cache.ts';
import type { AttemptOutcome, AttemptRequest } from '../types.ts';
import type { AttemptDeps } from './deps.ts';
import { QUEUED } from './rate-limit.ts';

// The relay of another process that has signalled a retry keeps a place for it until it sees that the retry has left the outbox:
// about as long after the signal as the retry took to come here, and 300 ms at least (worker/relay/in-flight.ts).
const PLACE_AGAIN_MS = 1000;

type PlaceDeps = Pick<AttemptDeps, 'places' | 'pool' | 'hasPlace' | 'onRoom'>;

export class Place {
  readonly #deps: PlaceDeps;
  readonly #request: AttemptRequest;
  readonly #isNeeded: boolean;
  #destinationId: string | null = null;

  constructor(deps: PlaceDeps, request: AttemptRequest, lane: Lane) {
    this.#deps = deps;
    this.#request = request;
    this.#isNeeded = lane === 'workflow' && request.attempt > 1;
  }

  /** Takes the place, unless it is held. @returns null, or that the delivery has to wait for one */
  async take(
    { id, maxConcurrency }: Pick<DestinationConfig, 'id' | 'maxConcurrency'>,
    { deliveryId }: Pick<AttemptContext, 'deliveryId'>,
  ): Promise<AttemptOutcome | null> {
    if (!this.#isNeeded || this.#destinationId === id) return null;
    this.leave();
    const { places, pool, hasPlace } = this.#deps;
    if (hasPlace(deliveryId)) return null;
    places.setMaximum(id, maxConcurrency);
    if (!places.take(id)) {
      if (this.#request.queued) return this.#comeBack(deliveryId);
      if (await queueForTurn(pool, deliveryId)) return { ...QUEUED, for: 'destination' };
      // It has ended: finding that out takes no time.
      places.enter(id);
    }
    this.#destinationId = id;
    return null;
  }

  /** If it stayed in the outbox, the relay that has signalled it would keep a place although nothing is under way. */
  async #comeBack(deliveryId: string): Promise<AttemptOutcome> {
    await postponeDelivery(this.#deps.pool, deliveryId, PLACE_AGAIN_MS);
    return { status: 'deferred', waitMs: PLACE_AGAIN_MS, for: 'destination' };
  }

  /** Gives the place back, if there is one. */
  leave(): void {
    const id = this.#destinationId;
    if (id === null) return;
    const { places, onRoom } = this.#deps;
    const wasFull = !places.hasRoom(id);
    places.leave(id);
    this.#destinationId = null;
    if (wasFull) onRoom();
  }
}

// How destinations are divided among workers: how many workers there are, which maximum a full destination has now, and
// the slots of those with a maximum below the number of workers (core/delivery/destination-concurrency.ts). A small
// statement every two seconds while something is delivered, else every ten; and four a second while slots are used.
import type { DestinationConcurrency } from '../../core/delivery/destination-concurrency.ts';
import { type Log, throttled } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { PollLoop, type Pause } from '../../core/process/poll-loop.ts';
import type { DatabaseUrl } from '../../db/connections/client.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { DestinationSlots, maximaOf } from '../../db/delivery/destination-slots.ts';
import { liveWorkers } from '../../db/hot-path/shards.ts';

const LOOK_MS = 2000;
const IDLE_LOOK_MS = 10_000;
const SLOTS_MS = 250;
// The session of slots is closed after so long without one, ms: before PostgreSQL ends it.
const SESSION_MS = 15_000;

/**
 * Failure policy: while the database is away, the last number of workers and the last maxima stay valid, and nothing
 * begins that needs a slot.
 * @param owner the name of this worker as a relay
 * @param onRoom called when a destination has room again
 */
export function keepDestinationSlots(
  { databaseUrl, pool, log }: { databaseUrl: DatabaseUrl; pool: Pool; log: Log },
  owner: string,
  concurrency: DestinationConcurrency,
  onRoom: () => void,
) {
  const slots = new DestinationSlots(databaseUrl, () => concurrency.slotsLost());
  let lookAt = Number.NEGATIVE_INFINITY;
  let usedAt = Number.NEGATIVE_INFINITY;
  let confirmedAt = Number.NEGATIVE_INFINITY;

  /**
   * Others may have raised the maximum of a destination that is full: nothing of it is claimed, and so its maximum not
   * read.
   */
  async function look(): Promise<void> {
    concurrency.workers = await liveWorkers(pool, owner);
    const full = concurrency.full();
    if (full.length === 0) return;
    for (const { id, maximum } of await maximaOf(pool, full)) concurrency.setMaximum(id, maximum);
    if (full.some((id) => concurrency.hasRoom(id))) onRoom();
  }

  async function exchange(askedAt: number): Promise<void> {
    const left = concurrency.leaveSlots(confirmedAt);
    const wanted = concurrency.slotsWanted();
    const taken = await slots.exchange(left, wanted);
    confirmedAt = askedAt;
    for (const id of taken) concurrency.slotTaken(id, askedAt);
    if (taken.length > 0) onRoom();
  }

  const rest = (): Pause => {
    if (concurrency.hasSlots) return { ms: SLOTS_MS, wokenMs: 0 };
    return { ms: concurrency.limits().length > 0 ? LOOK_MS : IDLE_LOOK_MS, wokenMs: 0 };
  };
  const loop = new PollLoop({
    async round() {
      const now = performance.now();
      if (now >= lookAt) {
        lookAt = now + LOOK_MS;
        await look();
      }
      if (concurrency.hasSlots) {
        usedAt = now;
        await exchange(now);
      } else if (now - usedAt > SESSION_MS) await slots.close();
      return rest();
    },
    onError(error) {
      throttled(log).warn({ cause: causeOf(error) }, 'failed to update concurrency slots; trying again');
      return { ms: LOOK_MS };
    },
  });
  concurrency.onUse = () => loop.wake();
  return {
    wake() {
      lookAt = Number.NEGATIVE_INFINITY;
      loop.wake();
    },
    async stop() {
      await loop.stop();
      await slots.close();
    },
  };
}

// What this worker and the others tell each other of destinations: how many workers share a limit, which maximum a destination
// has now, and what this one may have under way, for operators (health of a destination). One or two small statements every two
// seconds, whatever is delivered.
import type { DestinationPlaces } from '../core/destination-places.ts';
import type { Log } from '../core/log.ts';
import { causeOf } from '../core/log-cause.ts';
import { throttled } from '../core/throttled-log.ts';
import { forgetConcurrency, noteConcurrency, workerShare } from '../db/delivery/concurrency.ts';
import type { Pool } from '../db/pool.ts';
import { type Watch, watch } from './watch.ts';

const EXCHANGE_MS = 2000;
// An unchanged limit is noted again after this time: others take it for as long as 30 s (db/delivery/concurrency.ts).
const NOTE_AGAIN_MS = 15_000;
const FORGET_EVERY_MS = 60_000;

/**
 * Failure policy: while the database is away, the last share and the last maxima stay valid.
 * @param owner the name of this worker as a relay
 */
export function exchangeConcurrency(
  { pool, log }: { pool: Pool; log: Log },
  owner: string,
  places: DestinationPlaces,
): Watch {
  const noted = new Map<string, { places: number; at: number }>();
  let lastAt = performance.now();
  let forgotAt = lastAt;

  const isNoted = (destinationId: string, limit: number, now: number) => {
    const last = noted.get(destinationId);
    return last !== undefined && last.places === limit && now - last.at < NOTE_AGAIN_MS;
  };

  async function note(since: number, now: number): Promise<void> {
    const used = places.usedSince(since).map(({ destinationId, limit }) => ({
      destinationId,
      places: isNoted(destinationId, limit, now) ? null : limit,
    }));
    if (used.length === 0) return;
    const maxima = await noteConcurrency(pool, owner, used);
    for (const each of used) if (each.places !== null) noted.set(each.destinationId, { places: each.places, at: now });
    for (const { destinationId, maximum } of maxima) places.setMaximum(destinationId, maximum);
  }

  return watch(
    async () => {
      const now = performance.now();
      places.setShare(await workerShare(pool, owner));
      await note(lastAt, now);
      lastAt = now;
      if (now - forgotAt > FORGET_EVERY_MS) {
        forgotAt = now;
        for (const [id, { at }] of noted) if (now - at > NOTE_AGAIN_MS) noted.delete(id);
        await forgetConcurrency(pool);
      }
      return false;
    },
    {
      everyMs: EXCHANGE_MS,
      onError: (error) =>
        throttled(log).warn({ cause: causeOf(error) }, 'limits of destinations are not exchanged: as they were'),
    },
  );
}

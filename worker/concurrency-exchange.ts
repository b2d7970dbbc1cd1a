// What this worker and the others tell each other of destinations: how many workers share a limit, which maximum a destination
// has now, and what this one may have under way, for operators (health of a destination). One or two small statements every two
// seconds, whatever is delivered. Destinations that are used in turns (core/destination-turn.ts) take one more, four times a second
// while this worker waits for its turn; with it, workers tell what they see at limits that they share (core/shared-limit.ts).
import { type DestinationPlaces, INITIAL_PLACES } from '../core/destination-places.ts';
import type { Log } from '../core/log.ts';
import { causeOf } from '../core/log-cause.ts';
import { PollLoop, type Rest } from '../core/poll-loop.ts';
import { throttled } from '../core/throttled-log.ts';
import { forgetConcurrency, lowConcurrency, noteConcurrency, workerShare } from '../db/delivery/concurrency.ts';
import { forgetTurns, takeTurns } from '../db/delivery/destination-turns.ts';
import type { Pool } from '../db/connections/pool.ts';
import { withShortLocks } from '../db/connections/short-locks.ts';
import { watch } from './watch.ts';

const EXCHANGE_MS = 2000;
const REST: Rest = { ms: EXCHANGE_MS, nudgedMs: 0 };
// An unchanged limit is noted again after this time: others take it for as long as 30 s (db/delivery/concurrency.ts).
const NOTE_AGAIN_MS = 15_000;
const FORGET_EVERY_MS = 60_000;
const TURNS_MS = 250;
// Places are renewed so often, and it is seen that others wait.
const TURNS_AT_LEAST_MS = 1000;
// A worker that is new takes no place before the others have seen it: until then, one of them may use all.
const SEEN_AFTER_MS = 3 * EXCHANGE_MS;

export interface ConcurrencyExchange {
  /** Call it when workers may have come or gone: they share the limits at once. */
  nudge(): void;
  stop(): Promise<void>;
}

/** What a worker has to know before its first attempt: who else there is, and what they have learned. */
export async function beginExchange(pool: Pool, owner: string, places: DestinationPlaces): Promise<void> {
  places.setShare(await workerShare(pool, owner));
  places.startFrom(await lowConcurrency(pool, INITIAL_PLACES));
}

/**
 * Failure policy: while the database is away, or a row stays locked, the last share and the last maxima stay valid.
 * @param owner the name of this worker as a relay
 * @param onRoom called when it is this worker's turn at a destination
 */
export function exchangeConcurrency(
  { pool, log }: { pool: Pool; log: Log },
  owner: string,
  places: DestinationPlaces,
  onRoom: () => void = () => {},
): ConcurrencyExchange {
  const noted = new Map<string, { places: number; at: number }>();
  let lastAt = performance.now();
  let forgotAt = lastAt;

  const isNoted = (destinationId: string, limit: number, now: number) => {
    const last = noted.get(destinationId);
    return last !== undefined && last.places === limit && now - last.at < NOTE_AGAIN_MS;
  };

  async function note(since: number, now: number): Promise<void> {
    const used = places.usedSince(since).map(({ destinationId, limit, isShared }) => {
      // What it may have of a shared limit is no limit of its own.
      const own = isShared ? 0 : limit;
      return { destinationId, places: isNoted(destinationId, own, now) ? null : own };
    });
    if (used.length === 0) return;
    const known = await withShortLocks(pool, (db) => noteConcurrency(db, owner, used));
    for (const each of used) if (each.places !== null) noted.set(each.destinationId, { places: each.places, at: now });
    for (const { destinationId, maximum, isShared } of known) {
      places.setMaximum(destinationId, maximum);
      if (isShared) places.share(destinationId);
    }
  }

  // Since when it is known that the others can see this worker.
  let visibleAt: number | null = null;
  let turnsAt = Number.NEGATIVE_INFINITY;
  let hasTurns = false;

  async function lookAtOthers(): Promise<void> {
    const now = performance.now();
    const share = await workerShare(pool, owner);
    if (share.alive !== null) visibleAt ??= now;
    places.setShare(share);
  }

  async function takeMyTurns(): Promise<void> {
    // Until then it has no place at destinations that are used in turns.
    if (visibleAt === null) await lookAtOthers();
    const now = performance.now();
    const { requests, isUrgent } = places.turnRequests();
    if (requests.length === 0 && !hasTurns) return;
    if (!isUrgent && now - turnsAt < TURNS_AT_LEAST_MS) return;
    const mayTake = visibleAt !== null && now - visibleAt >= SEEN_AFTER_MS;
    // It may have been done although it fails.
    hasTurns = true;
    const answers = await withShortLocks(pool, (db) => takeTurns(db, owner, requests, mayTake));
    const before = places.full();
    places.applyTurns(requests, answers, now);
    if (before.some((id) => places.hasRoom(id))) onRoom();
    turnsAt = now;
    hasTurns = requests.length > 0;
  }

  const onError = (error: unknown) =>
    throttled(log).warn({ cause: causeOf(error) }, 'limits of destinations are not exchanged: as they were');
  const turns = watch(() => takeMyTurns().then(() => false), { everyMs: TURNS_MS, onError });
  const exchange = new PollLoop({
    async round() {
      const now = performance.now();
      await lookAtOthers();
      await note(lastAt, now);
      lastAt = now;
      if (now - forgotAt > FORGET_EVERY_MS) {
        forgotAt = now;
        for (const [id, { at }] of noted) if (now - at > NOTE_AGAIN_MS) noted.delete(id);
        await forgetConcurrency(pool);
        await forgetTurns(pool);
      }
      return REST;
    },
    onError(error) {
      onError(error);
      return { ms: EXCHANGE_MS };
    },
  });
  return {
    nudge: () => exchange.nudge(),
    async stop() {
      await Promise.all([exchange.stop(), turns.stop()]);
      // Nothing is under way any more; others need not wait until the places are free by themselves.
      await withShortLocks(pool, (db) => takeTurns(db, owner, [], false)).catch(onError);
    },
  };
}

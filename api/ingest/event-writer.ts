// Writes accepted events: concurrent requests share a statement and a commit, and each is answered after that commit.
import { Batcher } from '../../core/fairness/batcher.ts';
import { type Pause, PollLoop } from '../../core/process/poll-loop.ts';
import { wakeRelays } from '../../db/hot-path/outbox-listener.ts';
import {
  findFirstEvent,
  findStored,
  type NewEvent,
  storeEvents,
  type StoreResult,
} from '../../db/hot-path/store-events.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { setTimeout as pause } from 'node:timers/promises';
import {
  isConnectionLost,
  isTransientDatabaseError,
  isUniqueViolation,
  isWriteConflict,
} from '../../db/connections/database-errors.ts';

const MEBIBYTE = 1024 * 1024;
// Two groups overlap: while one waits for its commit to reach the disk, the next one is being written.
const CONCURRENT_GROUPS = 2;
// A body of 10 MB takes PostgreSQL a tenth of a second. Large ones have groups of their own, one at a time, so that the
// others wait for none of them.
const LARGE_BYTES = 128 * 1024;
// More commits per second would only take CPU from other work and make all of them slower.
const SPACING_MS = 5;
// A relay that was notified claims for longer than this without another notification (worker/relay/loop.ts).
const NOTIFY_EVERY_MS = 250;
// As long as a timer may be.
const UNTIL_WOKEN_MS = 2 ** 31 - 1;
const GROUP = { maxItems: 256, maxWeight: 4 * MEBIBYTE };
// Maximum queues when PostgreSQL is slower than the senders; beyond them, ingest answers 503.
const SMALL = { maxQueued: 2000, maxQueuedWeight: 32 * MEBIBYTE, concurrency: CONCURRENT_GROUPS };
const LARGE = { maxQueued: 2000, maxQueuedWeight: 128 * MEBIBYTE, concurrency: 1 };

export type EventWriter = ReturnType<typeof createEventWriter>;

export function createEventWriter(pool: Pool) {
  const notify = createNotifier(pool);
  const groups = (queue: typeof SMALL): Batcher<NewEvent, GroupOutcome> =>
    new Batcher({
      async run(events) {
        const outcomes = await writeGroup(pool, events);
        if (outcomes.some((outcome, index) => waitsForRelay(outcome, events[index]))) notify.deliveries();
        return outcomes;
      },
      weigh: (event) => event.body.length,
      ownerOf: (event) => event.organizationId,
      spacingMs: SPACING_MS,
      ...GROUP,
      ...queue,
    });
  const [small, large] = [groups(SMALL), groups(LARGE)];
  // Whoever stores events of an ordering key may wait for another one that does: nobody else waits with them.
  const [orderedSmall, orderedLarge] = [groups(SMALL), groups(LARGE)];
  function queueOf({ body, deliveries }: NewEvent): typeof small {
    const isLarge = body.length >= LARGE_BYTES;
    if (deliveries.some(({ order }) => order)) return isLarge ? orderedLarge : orderedSmall;
    return isLarge ? large : small;
  }
  // Requests with the same idempotency key are serialized: a group must not hold a key twice.
  const keysInFlight = new Map<string, Promise<WriteOutcome>>();

  async function writeOne(event: NewEvent): Promise<WriteOutcome> {
    const outcome = await queueOf(event).submit(event);
    if (outcome.kind === 'refused') throw outcome.error;
    return outcome;
  }

  async function writeKeyed(event: NewEvent, key: string): Promise<WriteOutcome> {
    for (let running = keysInFlight.get(key); running; running = keysInFlight.get(key)) {
      await running.catch(() => undefined);
    }
    const started = writeOne(event).finally(() => keysInFlight.delete(key));
    keysInFlight.set(key, started);
    return started;
  }

  return {
    /** @throws BatcherFullError when the queue is full; a database error when it was not stored */
    write(event: NewEvent): Promise<WriteOutcome> {
      if (!event.idempotency) return writeOne(event);
      return writeKeyed(event, `${event.sourceId}:${event.idempotency.keyHash.toString('hex')}`);
    },
    /** Waits until what was accepted is stored, and the relays know of it. */
    async end(): Promise<void> {
      await Promise.all([small, large, orderedSmall, orderedLarge].map((queue) => queue.idle()));
      await notify.end();
    },
  };
}

const waitsForRelay = ({ kind }: GroupOutcome, event: NewEvent | undefined): boolean =>
  kind === 'stored' && event?.deliveries.some(({ status }) => status === 'pending') === true;

/**
 * Notifies the relays after a commit, at most once in a while: at once when it has not just done so, else at the end of
 * that time. Failure policy: a notification that fails is repeated. Without it a relay finds the deliveries at its next
 * poll, after ten seconds at the latest.
 */
function createNotifier(pool: Pool) {
  let isDue = false;
  let hasEnded = false;

  async function notifyIfDue(): Promise<Pause> {
    if (!isDue) return { ms: UNTIL_WOKEN_MS, wokenMs: 0 };
    isDue = false;
    await wakeRelays(pool);
    return { ms: UNTIL_WOKEN_MS, wokenMs: NOTIFY_EVERY_MS };
  }

  const loop = new PollLoop({
    round: notifyIfDue,
    onError() {
      isDue = true;
      return { ms: NOTIFY_EVERY_MS };
    },
  });
  return {
    /** Returns at once: the sender does not wait for the notification. */
    deliveries(): void {
      isDue = true;
      if (hasEnded) void notifyIfDue().catch(() => undefined);
      else loop.wake();
    },
    /** What is due is not put off, nor what comes later. */
    async end(): Promise<void> {
      await loop.stop();
      hasEnded = true;
      await notifyIfDue().catch(() => undefined);
    },
  };
}

export type WriteOutcome = { kind: 'stored' } | { kind: 'duplicate'; eventId: string } | { kind: 'stale' };
/** `refused`: concerns this event alone; the others of its group have their own outcomes. */
export type GroupOutcome = WriteOutcome | { kind: 'refused'; error: unknown };

// No retry starts later than this after the first try. Senders wait for their answer, some only 3 s (Slack, "Events
// API"), and the groups behind this one wait too.
const REPEAT_FOR_MS = 2000;
// The first retry is immediate; the next waits this long, then the wait doubles.
const REPEAT_PAUSE_MS = 20;

/**
 * Stores a group of events and returns the outcome of each, even when PostgreSQL or the connection fails in between.
 * @throws a database error when none of the group is known to be stored
 */
async function writeGroup(pool: Pool, events: NewEvent[]): Promise<GroupOutcome[]> {
  try {
    const result = await storeSurely(pool, events);
    return await Promise.all(events.map((event) => outcomeOf(pool, event, result)));
  } catch (error) {
    if (isTransientDatabaseError(error) || events.length === 1) throw error;
    // One event that PostgreSQL refuses must not fail the others of its group.
    const alone = (event: NewEvent): Promise<GroupOutcome[]> =>
      writeGroup(pool, [event]).catch((reason: unknown) => [{ kind: 'refused', error: reason }]);
    return (await Promise.all(events.map(alone))).flat();
  }
}

/**
 * Stores a group. When the outcome is unknown (the connection was lost), the group is stored again: events that are
 * already there are found by their id, or refused by the primary key, which also waits for a statement that is still
 * running. So each event is stored and counted once.
 */
async function storeSurely(pool: Pool, events: NewEvent[]): Promise<StoreResult> {
  const mayRepeat = repeats();
  const found = new Set<string>();
  for (let mayBeStored = false; ; ) {
    try {
      if (mayBeStored) for (const id of await findStored(pool, events)) found.add(id);
      const left = events.filter(({ id }) => !found.has(id));
      if (left.length === 0) return { stored: found, stale: new Set() };
      const result = await storeEvents(pool, left);
      for (const id of found) result.stored.add(id);
      return result;
    } catch (error) {
      if (isConnectionLost(error) || isUniqueViolation(error)) mayBeStored = true;
      if (!(await mayRepeat(error, mayBeStored))) throw error;
    }
  }
}

/** Decides after each failure whether the group is tried again, and waits until then. */
function repeats(): (error: unknown, mayBeStored: boolean) => Promise<boolean> {
  const giveUpAt = performance.now() + REPEAT_FOR_MS;
  let conflicts = 0;
  let pauseMs = 0;
  return async (error, mayBeStored) => {
    if (isWriteConflict(error)) {
      conflicts += 1;
      return conflicts === 1;
    }
    // If the events were certainly not stored, the sender has to retry: it may reach a process that has a connection to
    // PostgreSQL.
    if (!mayBeStored || !(isTransientDatabaseError(error) || isUniqueViolation(error))) return false;
    if (performance.now() + pauseMs > giveUpAt) return false;
    await pause(pauseMs);
    pauseMs = Math.max(REPEAT_PAUSE_MS, pauseMs * 2);
    return true;
  };
}

async function outcomeOf(pool: Pool, event: NewEvent, { stored, stale }: StoreResult): Promise<GroupOutcome> {
  if (stored.has(event.id)) return { kind: 'stored' };
  if (stale.has(event.id) || !event.idempotency) return { kind: 'stale' };
  try {
    const first = await findFirstEvent(pool, event.sourceId, event.idempotency.keyHash);
    // The first one expired or was deleted between the two statements: try again.
    if (first === null) return { kind: 'stale' };
    // An earlier try, whose answer was lost, stored the key for this same event.
    return first === event.id ? { kind: 'stored' } : { kind: 'duplicate', eventId: first };
  } catch (error) {
    return { kind: 'refused', error };
  }
}

// Writes accepted events: concurrent requests share a statement and a commit, and each is answered after that commit.
import { type Batcher, createBatcher } from '../../core/batcher.ts';
import { findFirstEvent, type NewEvent, storeEvents } from '../../db/hot-path/store-events.ts';
import { isTransientDatabaseError } from '../../db/database-errors.ts';
import type { Pool } from '../../db/pool.ts';

/** What became of an event: stored, a repeat of an earlier one, or routed by a configuration that has changed since. */
export type WriteOutcome = { kind: 'stored' } | { kind: 'duplicate'; eventId: string } | { kind: 'stale' };

const MEBIBYTE = 1024 * 1024;
// Two groups overlap: while one waits for its commit to reach the disk, the next one is being written.
const CONCURRENT_GROUPS = 2;
// More commits a second than this lets through would only take the CPU of others, and make all of them wait longer.
const SPACING_MS = 5;
const GROUP = { maxItems: 256, maxWeight: 16 * MEBIBYTE };
// What may wait when PostgreSQL is slower than the senders; beyond it, ingest answers 503.
const QUEUE = { maxQueued: 2000, maxQueuedWeight: 128 * MEBIBYTE };

export interface EventWriter {
  /** @throws BatcherFullError when too much is waiting; a database error when it was not stored */
  write(event: NewEvent): Promise<WriteOutcome>;
  /** Waits for everything that was submitted. */
  idle(): Promise<void>;
}

export function createEventWriter(pool: Pool): EventWriter {
  const batcher: Batcher<NewEvent, WriteOutcome> = createBatcher({
    run: (events) => writeGroup(pool, events),
    weigh: (event) => event.body.length,
    spacingMs: SPACING_MS,
    concurrency: CONCURRENT_GROUPS,
    ...GROUP,
    ...QUEUE,
  });
  // Requests with the same idempotency key go one after the other: a group must hold each key once.
  const keysInFlight = new Map<string, Promise<WriteOutcome>>();

  async function writeKeyed(event: NewEvent, key: string): Promise<WriteOutcome> {
    for (let running = keysInFlight.get(key); running; running = keysInFlight.get(key)) {
      await running.catch(() => undefined);
    }
    const started = batcher.submit(event).finally(() => keysInFlight.delete(key));
    keysInFlight.set(key, started);
    return started;
  }

  return {
    write(event) {
      if (!event.idempotency) return batcher.submit(event);
      return writeKeyed(event, `${event.sourceId}:${event.idempotency.keyHash.toString('hex')}`);
    },
    idle: () => batcher.idle(),
  };
}

async function writeGroup(pool: Pool, events: NewEvent[]): Promise<WriteOutcome[]> {
  try {
    const { fresh, stored } = await storeEvents(pool, events);
    return await Promise.all(events.map((event) => outcomeOf(pool, event, fresh, stored)));
  } catch (error) {
    // One event that PostgreSQL cannot take must not refuse the others of its group.
    if (isTransientDatabaseError(error) || events.length === 1) throw error;
    return await Promise.all(events.map((event) => writeAlone(pool, event)));
  }
}

async function writeAlone(pool: Pool, event: NewEvent): Promise<WriteOutcome> {
  const { fresh, stored } = await storeEvents(pool, [event]);
  return outcomeOf(pool, event, fresh, stored);
}

async function outcomeOf(pool: Pool, event: NewEvent, fresh: boolean, stored: Set<string>): Promise<WriteOutcome> {
  if (!fresh) return { kind: 'stale' };
  if (stored.has(event.id)) return { kind: 'stored' };
  const first = event.idempotency && (await findFirstEvent(pool, event.sourceId, event.idempotency.keyHash));
  // The first one expired or was deleted between the two statements: try again.
  return first ? { kind: 'duplicate', eventId: first } : { kind: 'stale' };
}

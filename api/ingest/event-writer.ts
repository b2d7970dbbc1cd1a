// Writes accepted events: concurrent requests share a statement and a commit, and each is answered after that commit.
import { type Batcher, createBatcher } from '../../core/batcher.ts';
import type { NewEvent } from '../../db/hot-path/store-events.ts';
import type { Pool } from '../../db/pool.ts';
import { type GroupOutcome, type WriteOutcome, writeGroup } from './write-group.ts';

const MEBIBYTE = 1024 * 1024;
// Two groups overlap: while one waits for its commit to reach the disk, the next one is being written.
const CONCURRENT_GROUPS = 2;
// More commits per second would only take CPU from other work and make all of them slower.
const SPACING_MS = 5;
const GROUP = { maxItems: 256, maxWeight: 16 * MEBIBYTE };
// Maximum queue when PostgreSQL is slower than the senders; beyond it, ingest answers 503.
const QUEUE = { maxQueued: 2000, maxQueuedWeight: 128 * MEBIBYTE };

export interface EventWriter {
  /** @throws BatcherFullError when the queue is full; a database error when it was not stored */
  write(event: NewEvent): Promise<WriteOutcome>;
  /** Waits for everything that was submitted. */
  idle(): Promise<void>;
}

/** @param alone whether there is only one organization, for which the whole queue is */
export function createEventWriter(pool: Pool, alone: () => boolean = () => true): EventWriter {
  const batcher: Batcher<NewEvent, GroupOutcome> = createBatcher({
    run: (events) => writeGroup(pool, events),
    weigh: (event) => event.body.length,
    ownerOf: (event) => event.organizationId,
    alone,
    spacingMs: SPACING_MS,
    concurrency: CONCURRENT_GROUPS,
    ...GROUP,
    ...QUEUE,
  });
  // Requests with the same idempotency key are serialized: a group must not hold a key twice.
  const keysInFlight = new Map<string, Promise<WriteOutcome>>();

  async function writeOne(event: NewEvent): Promise<WriteOutcome> {
    const outcome = await batcher.submit(event);
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
    write(event) {
      if (!event.idempotency) return writeOne(event);
      return writeKeyed(event, `${event.sourceId}:${event.idempotency.keyHash.toString('hex')}`);
    },
    idle: () => batcher.idle(),
  };
}

// Writes accepted events: concurrent requests share a statement and a commit, and each is answered after that commit.
import { type Batcher, createBatcher } from '../../core/batcher.ts';
import { positionOf } from '../../core/positions.ts';
import { wakeRelays } from '../../db/hot-path/outbox-listener.ts';
import type { NewEvent } from '../../db/hot-path/store-events.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { type GroupOutcome, type WriteOutcome, writeGroup } from './write-group.ts';

const MEBIBYTE = 1024 * 1024;
// Two groups overlap: while one waits for its commit to reach the disk, the next one is being written.
const CONCURRENT_GROUPS = 2;
// A body of 10 MB takes PostgreSQL a tenth of a second. Large ones have groups of their own, one at a time, so that the others wait
// for none of them.
const LARGE_BYTES = 128 * 1024;
// More commits per second would only take CPU from other work and make all of them slower.
const SPACING_MS = 5;
// Relays are told of new deliveries once in this time at most, however many groups there are.
const WAKE_SPACING_MS = 5;
const GROUP = { maxItems: 256, maxWeight: 4 * MEBIBYTE };
// Maximum queues when PostgreSQL is slower than the senders; beyond them, ingest answers 503.
const SMALL = { maxQueued: 2000, maxQueuedWeight: 32 * MEBIBYTE, concurrency: CONCURRENT_GROUPS };
const LARGE = { maxQueued: 2000, maxQueuedWeight: 128 * MEBIBYTE, concurrency: 1 };

export interface EventWriter {
  /** @throws BatcherFullError when the queue is full; a database error when it was not stored */
  write(event: NewEvent): Promise<WriteOutcome>;
  /** Waits for everything that was submitted. */
  idle(): Promise<void>;
}

export function createEventWriter(pool: Pool): EventWriter {
  const wakes = createWakes(pool);
  const groups = (queue: typeof SMALL): Batcher<NewEvent, GroupOutcome> =>
    createBatcher({
      async run(events) {
        const outcomes = await writeGroup(pool, events);
        const waiting = outcomes.flatMap((outcome, index) => waitingIn(outcome, events[index]));
        // Nobody waits for it, least of all the sender.
        if (waiting.length > 0) void wakes.submit(waiting);
        return outcomes;
      },
      weigh: (event) => event.body.length,
      ownerOf: (event) => event.organizationId,
      spacingMs: SPACING_MS,
      ...GROUP,
      ...queue,
    });
  const [small, large] = [groups(SMALL), groups(LARGE)];
  // Requests with the same idempotency key are serialized: a group must not hold a key twice.
  const keysInFlight = new Map<string, Promise<WriteOutcome>>();

  async function writeOne(event: NewEvent): Promise<WriteOutcome> {
    const outcome = await (event.body.length < LARGE_BYTES ? small : large).submit(event);
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
    async idle() {
      await Promise.all([small.idle(), large.idle()]);
      await wakes.idle();
    },
  };
}

/** The positions of the deliveries of an event that wait for a relay now. */
function waitingIn({ kind }: GroupOutcome, event: NewEvent | undefined): number[] {
  const pending = kind === 'stored' ? event?.deliveries.filter(({ status }) => status === 'pending') : undefined;
  return pending?.map(({ id }) => positionOf(id)) ?? [];
}

/** Failure policy: a relay that is not told finds the deliveries at its next poll, half a second later at most. */
function createWakes(pool: Pool): Batcher<number[], void> {
  return createBatcher({
    async run(positions) {
      await wakeRelays(pool, positions.flat()).catch(() => undefined);
      return positions.map(() => undefined);
    },
    maxItems: Number.POSITIVE_INFINITY,
    maxQueued: Number.POSITIVE_INFINITY,
    spacingMs: WAKE_SPACING_MS,
    concurrency: 1,
  });
}

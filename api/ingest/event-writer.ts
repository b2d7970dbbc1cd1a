// Writes accepted events: concurrent requests share a statement and a commit, and each is answered after that commit.
import { type Batcher, createBatcher } from '../../core/fairness/batcher.ts';
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
// A relay that was notified claims for longer than this without another notification (worker/relay/loop.ts).
const NOTIFY_EVERY_MS = 250;
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
  const notify = createNotifier(pool);
  const groups = (queue: typeof SMALL): Batcher<NewEvent, GroupOutcome> =>
    createBatcher({
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
      await notify.idle();
    },
  };
}

const waitsForRelay = ({ kind }: GroupOutcome, event: NewEvent | undefined): boolean =>
  kind === 'stored' && event?.deliveries.some(({ status }) => status === 'pending') === true;

/**
 * Notifies the relays after a commit, at most once in a while: at once when it has not just done so, else at the end of that time.
 * Failure policy: a notification that fails is repeated. Without it a relay finds the deliveries at its next poll, after ten seconds at the
 * latest.
 */
function createNotifier(pool: Pool) {
  let isSilent = false;
  let isDue = false;
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();

  function notify(): void {
    isSilent = true;
    isDue = false;
    running = wakeRelays(pool)
      .catch(() => {
        isDue = true;
      })
      .finally(() => {
        timer = setTimeout(() => (isDue ? notify() : speak()), NOTIFY_EVERY_MS).unref();
      });
  }

  function speak(): void {
    isSilent = false;
  }

  return {
    /** Returns at once: the sender does not wait for the notification. */
    deliveries(): void {
      if (isSilent) isDue = true;
      else notify();
    },
    /** At the end: what is due is not put off. */
    async idle(): Promise<void> {
      await running;
      clearTimeout(timer);
      speak();
      if (isDue) notify();
      await running;
      clearTimeout(timer);
      speak();
    },
  };
}

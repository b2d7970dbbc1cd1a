// News of new deliveries (PostgreSQL LISTEN and NOTIFY), so that a quiet relay need not poll often. A worker listens to what concerns the
// positions of its relay: with many workers, telling each of them of every webhook cost as much as its delivery.
import type pg from 'pg';
import type { Log } from '../../core/log.ts';
import { causeOf } from '../../core/log-cause.ts';
import { bucketsOf, newsOf, type Positions } from '../../core/positions.ts';
import { clientOf, currentUrl, type DatabaseUrl } from '../connections/client.ts';
import type { Queryable } from '../connections/pool.ts';
import { bucketChannel, OUTBOX_CHANNEL, WAKE_HOLDERS } from '../sql-rules.ts';

const RECONNECT_MS = 2000;
const CONNECT_TIMEOUT_MS = 3000;
const QUERY_TIMEOUT_MS = 3000;

export interface OutboxListener {
  /** Whether it listens to all that concerns its relay. */
  hears(): boolean;
  /** Call it when the relay holds other positions than before. */
  follow(): void;
  close(): Promise<void>;
}

interface OutboxListenerDeps {
  /** What the relay holds. */
  positions: () => Positions;
  /**
   * Called when commits have brought deliveries (with their positions as `tellPositions` writes them, or ''), or have made something else
   * due (with 'due').
   */
  onNews: (news: string) => void;
  log: Log;
}

/**
 * Listens on its own connection and reconnects when it breaks.
 * Failure policy: while it is away, the relay polls, and what becomes due is found at the next look.
 */
export function listenForDeliveries(databaseUrl: DatabaseUrl, deps: OutboxListenerDeps): OutboxListener {
  const { positions, onNews, log } = deps;
  const PgClient = clientOf(databaseUrl);
  let client: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let closed = false;
  let isListening = false;
  /** The buckets that the current connection listens to; null: it is not ready. */
  let followed: Set<number> | null = null;
  let following = Promise.resolve();

  async function connect(): Promise<void> {
    const next = new PgClient({
      connectionString: currentUrl(databaseUrl),
      application_name: 'hookyard-worker',
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
    });
    client = next;
    next.on('notification', ({ payload }) => onNews(payload ?? ''));
    // Without a listener, an error event would end the process. A broken connection ends as well.
    next.on('error', () => undefined);
    try {
      await next.connect();
      next.once('end', onEnd);
      await next.query(`listen ${OUTBOX_CHANNEL}`);
      followed = new Set();
      await followNow();
      onNews('due');
    } catch (error) {
      log.debug({ cause: causeOf(error) }, 'the relay polls until it can listen again');
      await next.end().catch(() => undefined);
      connectLater();
    }
  }

  /** Listens to the buckets of what the relay holds now, and to no others. */
  async function followNow(): Promise<void> {
    if (followed === null || client === undefined) return;
    const wanted = new Set(bucketsOf(positions()).keys());
    const begun = [...wanted].filter((bucket) => !followed?.has(bucket));
    const ended = [...followed].filter((bucket) => !wanted.has(bucket));
    followed = wanted;
    const statements = [
      ...begun.map((bucket) => `listen ${bucketChannel(bucket)}`),
      ...ended.map((bucket) => `unlisten ${bucketChannel(bucket)}`),
    ];
    if (statements.length > 0) await client.query(statements.join('; '));
    isListening = true;
    // For commits while nobody listened.
    onNews('');
  }

  function onEnd(): void {
    isListening = false;
    followed = null;
    connectLater();
  }

  function connectLater(): void {
    clearTimeout(retry);
    if (!closed) retry = setTimeout(() => void connect(), RECONNECT_MS).unref();
  }

  const connected = connect();
  return {
    hears: () => isListening,
    follow() {
      isListening = false;
      // When it fails the connection ends, and the next one follows all.
      following = following.then(followNow).catch(() => client?.end().catch(() => undefined));
    },
    async close() {
      closed = true;
      clearTimeout(retry);
      await connected;
      await client?.end().catch(() => undefined);
    },
  };
}

/**
 * Tells the relays that there are new deliveries in the outbox: those that hold their positions claim them, the others need not look.
 * A relay that takes a position meanwhile claims then.
 */
export async function wakeRelays(db: Queryable, positions: readonly number[]): Promise<void> {
  const news = newsOf(positions);
  await db.query({
    name: 'wake-relays',
    text: WAKE_HOLDERS,
    values: [news.map(({ bucket }) => bucketChannel(bucket)), news.map(({ told }) => told)],
  });
}

// News of new deliveries (PostgreSQL LISTEN and NOTIFY), so that a quiet relay need not poll often.
import type pg from 'pg';
import type { Log } from '../../core/log.ts';
import { causeOf } from '../../core/log-cause.ts';
import { tellPositions } from '../../core/positions.ts';
import { clientOf, currentUrl, type DatabaseUrl } from '../connections/client.ts';
import { isDirect } from '../connections/pooling.ts';
import type { Queryable } from '../connections/pool.ts';
import { OUTBOX_CHANNEL, WAKE_HOLDERS } from '../sql-rules.ts';

const RECONNECT_MS = 2000;
const CONNECT_TIMEOUT_MS = 3000;

export interface OutboxListener {
  /** Whether it listens, with no pooler between that could keep notifications back. */
  hears(): boolean;
  close(): Promise<void>;
}

/**
 * Listens on its own connection and reconnects when it breaks.
 * Failure policy: while it is away, or where a pooler does not pass notifications on, the relay and the watch over circuits poll.
 * @param onNews called when commits have brought deliveries (with their positions as `tellPositions` writes them, or ''), or a change
 * of a circuit (with 'circuits')
 */
export function listenForDeliveries(
  databaseUrl: DatabaseUrl,
  onNews: (news: string) => void,
  log: Log,
): OutboxListener {
  const PgClient = clientOf(databaseUrl);
  let client: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let closed = false;
  let isListening = false;

  async function connect(): Promise<void> {
    const next = new PgClient({
      connectionString: currentUrl(databaseUrl),
      application_name: 'hookyard-worker',
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    client = next;
    next.on('notification', ({ payload }) => onNews(payload ?? ''));
    // Without a listener, an error event would end the process. A broken connection ends as well.
    next.on('error', () => undefined);
    try {
      await next.connect();
      next.once('end', onEnd);
      await next.query(`listen ${OUTBOX_CHANNEL}`);
      isListening = await isDirect(next);
      // For commits while nobody listened.
      onNews('');
      onNews('circuits');
    } catch (error) {
      log.debug({ cause: causeOf(error) }, 'the relay polls until it can listen again');
      await next.end().catch(() => undefined);
      connectLater();
    }
  }

  function onEnd(): void {
    isListening = false;
    connectLater();
  }

  function connectLater(): void {
    clearTimeout(retry);
    if (!closed) retry = setTimeout(() => void connect(), RECONNECT_MS).unref();
  }

  const connected = connect();
  return {
    hears: () => isListening,
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
 * A relay that takes a position meanwhile polls.
 */
export async function wakeRelays(db: Queryable, positions: readonly number[]): Promise<void> {
  await db.query({ name: 'wake-relays', text: WAKE_HOLDERS, values: [tellPositions(positions)] });
}

// The session lock of a relay: PostgreSQL frees it in the moment the process dies, which tells others so (relay-leases.ts).
import type pg from 'pg';
import type { Log } from '../../core/log.ts';
import { causeOf } from '../../core/log-cause.ts';
import { clientOf, currentUrl, type DatabaseUrl } from '../connections/client.ts';

const RECONNECT_MS = 500;
const CONNECT_TIMEOUT_MS = 3000;
const QUERY_TIMEOUT_MS = 3000;

export interface RelaySession {
  /** Whether this process holds the lock at the moment. */
  isHeld(): boolean;
  close(): Promise<void>;
}

/**
 * Takes the lock on a connection of its own, and again when that breaks.
 * Failure policy: a relay without the lock works on; when it dies, others wait for the end of its lease.
 * @param name of the process; nobody else takes its lock
 * @param onBroken called when the connection that held the lock breaks
 */
export function holdSession(databaseUrl: DatabaseUrl, name: string, onBroken: () => void, log: Log): RelaySession {
  const PgClient = clientOf(databaseUrl);
  let client: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let isHeld = false;
  let closed = false;

  async function connect(): Promise<void> {
    const next = new PgClient({
      connectionString: currentUrl(databaseUrl),
      application_name: 'hookyard-worker',
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
    });
    client = next;
    // Without a listener, an error event would end the process. A broken connection ends as well.
    next.on('error', () => undefined);
    try {
      await next.connect();
      next.once('end', onEnd);
      const { rows } = await next.query<{ taken: boolean }>(
        'select pg_try_advisory_lock(hashtextextended($1, 0)) as taken',
        [name],
      );
      isHeld = rows[0]?.taken === true;
      // Others look at it for a moment, or the connection before this one is not ended yet.
      if (!isHeld) await next.end();
    } catch (error) {
      log.debug({ cause: causeOf(error) }, 'the session lock is taken later');
      await next.end().catch(() => undefined);
      connectLater();
    }
  }

  function onEnd(): void {
    if (isHeld) onBroken();
    isHeld = false;
    connectLater();
  }

  function connectLater(): void {
    clearTimeout(retry);
    if (!closed) retry = setTimeout(() => void connect(), RECONNECT_MS).unref();
  }

  const connected = connect();
  return {
    isHeld: () => isHeld,
    async close() {
      closed = true;
      clearTimeout(retry);
      await connected;
      await client?.end().catch(() => undefined);
    },
  };
}

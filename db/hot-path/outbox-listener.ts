// The connection on which a worker listens (PostgreSQL LISTEN and NOTIFY) and shows that it lives (shards.ts). A
// connection may be dead without either side knowing it: a beat without an answer shows that, and it is made anew.
import type pg from 'pg';
import type { Log } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { type DatabaseUrl, KeptConnection } from '../connections/client.ts';
import { isReadOnlyServer } from '../connections/database-errors.ts';
import type { Queryable } from '../connections/pool.ts';
import { CHANNEL, WAKE_RELAYS } from '../sql/rules.ts';

const RECONNECT_MS = 500;
const TIMEOUT_MS = 2000;
// A beat that is lost in a crash of PostgreSQL is followed by another one; nobody waits for the disk once a second.
const SET_UP = `set synchronous_commit = off; listen ${CHANNEL}`;

interface OutboxListenerDeps {
  deliveries: () => void;
  /** Called when commits have made something else due: a circuit that has changed, for example. */
  due: () => void;
  workers: () => void;
  log: Log;
}

/** Failure policy: while it is away, the relay polls, and what becomes due is found at the next look. */
export function listenForDeliveries(databaseUrl: DatabaseUrl, deps: OutboxListenerDeps) {
  let retry: NodeJS.Timeout | undefined;
  let closed = false;
  const connection = new KeptConnection(databaseUrl, {
    timeoutMs: TIMEOUT_MS,
    setUp: SET_UP,
    onLost: connectLater,
    onNotification(payload) {
      if (payload === 'due') deps.due();
      else if (payload === 'workers') deps.workers();
      else deps.deliveries();
    },
  });

  async function connect(): Promise<void> {
    try {
      await connection.session();
      if (closed) return;
      // For commits while nobody listened.
      deps.workers();
      deps.due();
      deps.deliveries();
    } catch (error) {
      deps.log.debug({ cause: causeOf(error) }, 'the relay is polling until it can listen again');
      connectLater();
    }
  }

  function connectLater(): void {
    clearTimeout(retry);
    if (closed) return;
    retry = setTimeout(() => {
      connecting = connect();
    }, RECONNECT_MS).unref();
  }

  const query = async (...statement: Parameters<pg.Client['query']>): Promise<unknown> => {
    if (!connection.isUp) throw new Error('The listening connection is closed');
    const client = await connection.session();
    try {
      return await client.query(...statement);
    } catch (error) {
      // An error of the server leaves the connection as it is. But a session that began while the server took no writes
      // may never write, and this worker would count as dead for good.
      if (!isOfServer(error) || isReadOnlyServer(error)) connection.drop(client);
      throw error;
    }
  };

  let connecting = connect();
  return {
    /** Runs a statement on this connection. @throws when it is away, or does not answer */
    db: { query } as Queryable,
    hears: () => connection.isUp,
    async close(): Promise<void> {
      closed = true;
      clearTimeout(retry);
      await connecting;
      await connection.close();
    },
  };
}

const isOfServer = (error: unknown): boolean => error instanceof Error && 'severity' in error;

export async function wakeRelays(db: Queryable): Promise<void> {
  await db.query({ name: 'wake-relays', text: `select ${WAKE_RELAYS}` });
}

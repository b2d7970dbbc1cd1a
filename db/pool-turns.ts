// The connections of a pool are shared by organizations: whatever the statements of one wait for (a lock, a slow search), it holds
// its share of them at most, and its other requests wait without one.
import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import { FairQueue } from '../core/fair-queue.ts';

const acting = new AsyncLocalStorage<string>();

/** Runs work whose statements count for an organization. */
export function actingFor<T>(organizationId: string, work: () => T): T {
  return acting.run(organizationId, work);
}

// As long as the pool itself lets its callers wait.
const WAIT_MS = 3000;
// Its message is one that says the statement may succeed later (database-errors.ts).
const onTimeout = () => new Error('timeout exceeded when waiting for a connection: other requests hold them');

type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, done: pg.PoolClient['release']) => void;

/**
 * Shares the connections of a pool. Statements outside of `actingFor` are the service's own, and do not wait for others' turns.
 * @param options.max connections of the pool
 * @param options.alone whether there is only one organization
 */
export function shareConnections(pool: pg.Pool, { max, alone }: { max: number; alone: () => boolean }): void {
  // The last one is for the service's own statements: who a request comes from is looked up before its turn.
  const queue = new FairQueue(Math.max(1, max - 1), alone);
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;

  async function connectInTurn(): Promise<pg.PoolClient> {
    const organizationId = acting.getStore();
    if (organizationId === undefined) return connect();
    const leave = await queue.take(organizationId, { waitMs: WAIT_MS, onTimeout });
    try {
      return leaving(await connect(), leave);
    } catch (error) {
      leave();
      throw error;
    }
  }

  function connectOnce(done?: Connected): Promise<pg.PoolClient> | undefined {
    if (!done) return connectInTurn();
    connectInTurn().then(
      (client) => done(undefined, client, client.release),
      (error: Error) => done(error, undefined, () => {}),
    );
    return undefined;
  }
  pool.connect = connectOnce as typeof pool.connect;
}

/** The pool makes a new `release` each time it hands a client out. */
function leaving(client: pg.PoolClient, leave: () => void): pg.PoolClient {
  const release = client.release;
  let isHeld = true;
  client.release = (destroy) => {
    if (isHeld) leave();
    isHeld = false;
    release(destroy);
  };
  return client;
}

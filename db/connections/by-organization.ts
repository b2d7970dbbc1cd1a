// The connections of a pool are shared by organizations: whatever the statements of one wait for (a lock, a slow
// search), it holds its share of them at most, and its other requests wait without one. In the same way quick
// statements of the service are kept from waiting for slow ones.
import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import { FairQueue } from '../../core/fairness/fair-queue.ts';
import { alsoInTransactions } from './settings.ts';

const acting = new AsyncLocalStorage<string>();

export function actingFor<T>(organizationId: string, work: () => T): T {
  return acting.run(organizationId, work);
}

/** The organization whose work is under way; undefined: the service's own. */
function actingOrganization(): string | undefined {
  return acting.getStore();
}

// As long as the pool itself lets its callers wait.
const WAIT_MS = 3000;
// Its message is one that says the statement may succeed later (database-errors.ts).
const HELD_BY_OTHERS = 'timeout exceeded when waiting for a connection: other statements are using the connections';

/** An organization had no turn for a connection in time: its other statements hold its share. */
export class NoTurnError extends Error {}

type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, done: pg.PoolClient['release']) => void;

/** A `connect` that first takes a turn, which ends when the client is released. @param take null: none in time */
const connectInTurn = (
  connect: () => Promise<pg.PoolClient>,
  take: () => Promise<(() => void) | null>,
  noTurn: () => Error,
): pg.Pool['connect'] =>
  eitherWay(async () => {
    const leave = await take();
    if (leave === null) throw noTurn();
    try {
      return leaving(await connect(), leave);
    } catch (error) {
      leave();
      throw error;
    }
  });

/**
 * Shares the connections of a pool. Statements outside of `actingFor` are the service's own, and do not wait for
 * others' turns.
 * @param limit connections that organizations may hold together, 1 or more
 */
export function shareConnections(pool: pg.Pool, limit: number): void {
  const queue = new FairQueue(limit);
  async function take(): Promise<(() => void) | null> {
    const organizationId = actingOrganization();
    return organizationId === undefined ? () => {} : queue.take(organizationId, { waitMs: WAIT_MS });
  }
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  pool.connect = connectInTurn(connect, take, () => new NoTurnError(HELD_BY_OTHERS));
}

// As long as the slow statements before it may take, each for the statement timeout.
const SLOW_WAIT_MS = 60_000;
const HELD_BY_SLOW = 'timeout exceeded when waiting for a connection: other slow statements are still running';

/**
 * The same pool for statements that may be slow, such as counts of all that waits: together they hold half of its
 * connections at most, and wait for each other. So quick ones on the pool itself, such as look-ups of keys, find one,
 * however few there are (two).
 * @param max connections of the pool, at least 2
 */
export function slowSide(pool: pg.Pool, max: number): pg.Pool {
  const queue = new FairQueue(Math.floor(max / 2), Number.MAX_SAFE_INTEGER);
  const take = () => queue.take('', { waitMs: SLOW_WAIT_MS });
  const connect = connectInTurn(
    () => pool.connect(),
    take,
    () => new Error(HELD_BY_SLOW),
  );
  return Object.assign(Object.create(pool) as pg.Pool, { connect });
}

/** A `connect` as pools have it, which takes a callback or returns a promise; `pool.query` uses the callback. */
function eitherWay(connect: () => Promise<pg.PoolClient>): pg.Pool['connect'] {
  function connectOnce(done?: Connected): Promise<pg.PoolClient> | undefined {
    if (!done) return connect();
    connect().then(
      (client) => done(undefined, client, client.release),
      (error: Error) => done(error, undefined, () => {}),
    );
    return undefined;
  }
  return connectOnce as pg.Pool['connect'];
}

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

/**
 * The setting of a connection that names the organization it works for; without it, or when it is empty, there are no
 * rows.
 */
export const ORGANIZATION_SETTING = 'hookyard.organization_id';

const SET = `select set_config('${ORGANIZATION_SETTING}', $1, false), current_user::text as role`;

type Bind = (client: pg.PoolClient, organizationId: string) => Promise<void>;

/**
 * Binds the connections of a pool for tenants: each acts as the role of the tenants, and is set to the organization it
 * is taken for before it is handed out, whose rows are the only ones it sees. Work of no organization sees nothing on
 * them.
 * @param role as which its connections act, by their settings
 * @param transactionPooler whether a pooler in transaction mode stands between
 */
export function bindToOrganizations(pool: pg.Pool, role: string, transactionPooler = false): void {
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  const bind = transactionPooler ? bindTransactions : bindSessions(role);

  async function connectBound(organizationId: string): Promise<pg.PoolClient> {
    const client = await connect();
    try {
      await bind(client, organizationId);
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  pool.connect = eitherWay(() => connectBound(actingOrganization() ?? ''));
}

/**
 * What a session was set to is remembered, so that only a change costs a round trip.
 * Failure policy: a connection that does not act as the role is not handed out, because no policy would bind it.
 */
function bindSessions(role: string): Bind {
  const bound = new WeakMap<pg.PoolClient, string>();
  return async (client, organizationId) => {
    if (bound.get(client) === organizationId) return;
    bound.delete(client);
    const { rows } = await client.query<{ role: string }>(SET, [organizationId]);
    if (rows[0]?.role !== role) throw new Error(notActing(role, rows[0]?.role));
    bound.set(client, organizationId);
  };
}

/** Each of its transactions begins with the role and the organization, or fails. */
const bindTransactions: Bind = async (client, organizationId) =>
  alsoInTransactions(client, { [ORGANIZATION_SETTING]: organizationId });

const notActing = (role: string, actual = 'an unknown role'): string =>
  `A tenant connection acts as ${actual} instead of ${role}: its settings were lost; see docs/operate/postgresql.md`;

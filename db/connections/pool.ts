// The connection pool of the hand-written statements (hot-path/, history/).
import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { clientOf, currentUrl, type DatabaseUrl } from './client.ts';
import { isReadOnlyServer } from './database-errors.ts';
import { keepSettings, type ConnectionSettings } from './settings.ts';
import { cleanParameters } from './statements.ts';
import { bindToOrganizations } from './by-organization.ts';
import { parseExact } from '../../core/text/exact-json.ts';

const { INT8, JSON: JSON_TEXT, JSONB } = pg.types.builtins;

// Conditions and schemas hold numbers of users, and jsonb keeps their digits. Set for the whole process, so that the
// object mapper and the hand-written statements read alike.
for (const type of [JSON_TEXT, JSONB]) pg.types.setTypeParser(type, parseExact);

const types = new pg.TypeOverrides();
// Counters and versions stay far below 2^53, so bigint columns are read as numbers.
types.setTypeParser(INT8, (text) => Number(text));

export type Pool = pg.Pool;
// PostgreSQL manual, 19.7.1 and 19.7.4.
const INDEX_SCANS: ConnectionSettings = { enable_seqscan: 'off', enable_bitmapscan: 'off' };
// A statement without a name is planned for every call. A plan for any values has all partitions in it, and took 30 ms
// to make.
const PLANNED_ONCE: ConnectionSettings = { plan_cache_mode: 'force_generic_plan' };

/** Runs statements: the pool, or one connection inside a transaction. */
export type Queryable = Pick<pg.Pool, 'query'>;

export async function firstRow<Row extends object>(
  db: Queryable,
  statement: string | pg.QueryConfig,
  values?: unknown[],
): Promise<Row | undefined> {
  return (await db.query<Row>(statement, values)).rows[0];
}

/**
 * Opens a pool; connections are made on demand and replaced when they break.
 * @param options.name the `application_name` of its connections: `hookyard-` and the role of the process. Every pool of
 * the service has one; an `application_name` in the URL counts instead
 * @param options.max most connections
 * @param options.statementTimeoutMs deadline of every statement, ms
 * @param options.lockTimeoutMs how long a statement waits for a lock; as long as its deadline by default
 * @param options.onError called when an idle connection breaks (PostgreSQL restarted, for example)
 * @param options.hotPath for the statements of hot-path/ only: each is planned once per connection, because planning
 *   them for every call, as PostgreSQL prefers for arrays, costs three times as much as running them. So statements
 *   whose best plan depends on their filters must not run on such a pool; and since a plan may be made while a table is
 *   empty and be used when much waits in it, rows are found by plain index scans, whatever the statistics say
 *   (test/db/claim.test.ts)
 * @param options.tenantRole the role its connections act as, each for the organization it is taken for
 * @param options.transactionPooler whether a pooler in transaction mode stands between (settings.ts)
 */
export function createPool(
  databaseUrl: DatabaseUrl,
  options: {
    name?: string;
    max: number;
    statementTimeoutMs: number;
    lockTimeoutMs?: number;
    onError: (error: Error) => void;
    hotPath?: boolean;
    tenantRole?: string | null;
    transactionPooler?: boolean;
  },
): Pool {
  const { tenantRole = null, transactionPooler = false } = options;
  const pool = new pg.Pool({
    Client: clientOf(databaseUrl),
    connectionString: currentUrl(databaseUrl),
    application_name: options.name,
    max: options.max,
    types,
    connectionTimeoutMillis: 3000,
    query_timeout: options.statementTimeoutMs + 2000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
  });
  pool.on('error', options.onError);
  const settings = {
    statement_timeout: String(options.statementTimeoutMs),
    ...(options.lockTimeoutMs !== undefined && { lock_timeout: String(options.lockTimeoutMs) }),
    ...(options.hotPath && INDEX_SCANS),
    ...(options.hotPath && !transactionPooler && PLANNED_ONCE),
  };
  // A connection that breaks must not end the process: an error event without a listener does. The pool listens to idle
  // ones, and whoever uses one listens a moment after it was handed out; what PostgreSQL says at its end may be read
  // between.
  pool.on('connect', (client) => client.on('error', () => undefined));
  pool.on('connect', cleanParameters);
  preparePool(pool, settings, { tenantRole, transactionPooler });
  return pool;
}

export function preparePool(
  pool: pg.Pool,
  settings: ConnectionSettings,
  { tenantRole, transactionPooler }: { tenantRole: string | null; transactionPooler: boolean },
): void {
  keepSettings(pool, tenantRole ? { ...settings, role: tenantRole } : settings, transactionPooler);
  dropReadOnlyConnections(pool);
  hideQuotedValues(pool);
  if (tenantRole) bindToOrganizations(pool, tenantRole, transactionPooler);
}

/**
 * Closes a connection whose server has refused a write, when it comes back to its pool. After a failover behind a name
 * or a pooler, connections may still lead to the server that is a standby now; and one that was made while the server
 * was set read-only stays so.
 */
function dropReadOnlyConnections(pool: pg.Pool): void {
  const readOnly = new WeakSet<pg.ClientBase>();
  pool.on('connect', (client) => {
    if (!(client instanceof pg.Client)) return;
    client.connection.on('errorMessage', (error: unknown) => {
      if (isReadOnlyServer(error)) readOnly.add(client);
    });
  });
  pool.on('release', (_error, client) => {
    if (client instanceof pg.Client && readOnly.has(client)) void client.end();
  });
}

/**
 * Whether the server accepts writes. Locks no row, so nobody waits for it; a read-only server refuses it, and then the
 * pool drops the connection. `query_timeout` ends the query on the client side, so that a network that drops packets
 * does not keep the connection.
 * @throws when the server cannot be reached within the deadline, ms
 */
export async function takesWrites(pool: Pool, deadlineMs: number): Promise<boolean> {
  const question = { text: 'select from organizations limit 0 for update', query_timeout: deadlineMs };
  try {
    await pool.query(question);
    return true;
  } catch (error) {
    if (isReadOnlyServer(error)) return false;
    throw error;
  }
}

// What belongs to a transaction besides its statements. A request has a hook, which runs at the end of each of its
// transactions on the same connection, so the change is committed with it or not at all: both in those of this
// file and in those of the object mapper. And what must not happen unless a change is committed, metrics for example,
// waits for the commit; statements that may run inside of a transaction or alone need not know which.

/**
 * Runs a statement that has one parameter; its text is made with what stands for the parameter.
 * @returns how many rows it wrote
 */
export type Execute = (statement: (parameter: string) => string, value: string) => Promise<number>;

export interface CommitHook {
  /** Called before each commit. What it throws rolls the transaction back. */
  run(execute: Execute): Promise<void>;
  /** Called after it. */
  committed(): void;
}

const hooks = new AsyncLocalStorage<CommitHook>();

export function withCommitHook<T>(hook: CommitHook, work: () => Promise<T>): Promise<T> {
  return hooks.run(hook, work);
}

export function commitHook(): CommitHook | undefined {
  return hooks.getStore();
}

// Of each connection that is inside of a transaction: what is to be done after its commit.
const waiting = new WeakMap<Queryable, (() => void)[]>();

/**
 * Does something when what was written on `db` is committed: at once outside of a transaction, and never when it is
 * rolled back.
 * @param then must not throw: the change is committed by then
 */
export function afterCommit(db: Queryable, then: () => void): void {
  const others = waiting.get(db);
  if (others) others.push(then);
  else then();
}

/**
 * Runs `work` inside one transaction on one connection; rolls back and rethrows when it fails. Inside of a request that
 * records what it does, the record is its last statement (CommitHook).
 */
export async function inTransaction<T>(pool: Pool, work: (db: pg.PoolClient) => Promise<T>): Promise<T> {
  const hook = commitHook();
  if (!hook) return transact(pool, 'begin', work);
  const result = await transact(pool, 'begin', async (db) => {
    const done = await work(db);
    await hook.run(async (statement, value) => (await db.query(statement('$1'), [value])).rowCount ?? 0);
    return done;
  });
  hook.committed();
  return result;
}

/** Runs statements that only read and that all see the database as it is at the first of them. */
export function inSnapshot<T>(pool: Pool, work: (db: Queryable) => Promise<T>): Promise<T> {
  return transact(pool, 'begin isolation level repeatable read read only', work);
}

async function transact<T>(pool: Pool, begin: string, work: (db: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const afterwards: (() => void)[] = [];
  waiting.set(client, afterwards);
  try {
    await client.query(begin);
    const result = await work(client);
    await client.query('commit');
    for (const then of afterwards) then();
    return result;
  } catch (error) {
    await client.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    throw error;
  } finally {
    waiting.delete(client);
    client.release(broken);
  }
}

/** Errors go to logs and to Temporal, and some quote values of the statement, such as a header of a webhook. */
function hideQuotedValues(pool: pg.Pool): void {
  pool.on('connect', (client) => {
    if (client instanceof pg.Client) client.connection.prependListener('errorMessage', hide);
  });
}

// PostgreSQL manual, appendix A. Of a data exception the message itself may quote (`invalid input syntax for type
// integer: "..."`); of a violated constraint the detail does (`Failing row contains (...)`), and `where` quotes JSON
// around a mistake.
function hide(error: unknown): void {
  if (!(error instanceof pg.DatabaseError)) return;
  const { code = '' } = error;
  const isData = code.startsWith('22');
  if (!isData && !code.startsWith('23')) return;
  error.detail = undefined;
  error.where = undefined;
  if (!isData) return;
  error.message = `PostgreSQL rejected a value (SQLSTATE ${code})`;
  Error.captureStackTrace(error);
}

const SHORT_LOCK_MS = 1000;

/**
 * Runs statements about several organizations in a transaction of their own, on a pool without a lock time-out: what
 * one of them keeps locked must not hold the others up for long.
 * @throws a database error (`isLockTimeout`) when a row stays locked for a second; nothing has changed then
 */
export function withShortLocks<T>(pool: Pool, work: (db: Queryable) => Promise<T>): Promise<T> {
  return inTransaction(pool, async (db) => {
    await db.query(`set local lock_timeout = ${SHORT_LOCK_MS}`);
    return work(db);
  });
}

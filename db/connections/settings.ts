// Sets the connections of a pool (PostgreSQL manual, chapter 19): when they are made, or in every transaction where
// they have no session of their own. Not by start parameters, because poolers refuse those they do not know.
import pg from 'pg';

// A new connection that gets no answer in that time is given up.
const SETTING_TIMEOUT_MS = 3000;
// Whatever the server, the database or the role is set to: times are read as they are written here, and plans are not
// compiled. They are short; and before PostgreSQL 18 a plan that cannot do without a scan that is switched off
// (pool.ts) looks as if it were endless.
const EVERYWHERE: ConnectionSettings = { timezone: 'UTC', datestyle: 'ISO, MDY', jit: 'off' };

/**
 * Gives every connection of a pool its settings before it is handed out.
 * Failure policy: a connection that does not get them is not handed out.
 * @param transactionPooler whether a pooler in transaction mode stands between
 */
export function keepSettings(pool: pg.Pool, own: ConnectionSettings, transactionPooler: boolean): void {
  const settings = { ...EVERYWHERE, ...own };
  if (transactionPooler) pool.on('connect', (client) => setInTransactions(client, settings));
  else pool.options.onConnect = (client) => setOnce(client, settings);
}

async function setOnce(client: pg.ClientBase, settings: ConnectionSettings): Promise<void> {
  const statement = { text: settingStatement(settings, false), query_timeout: SETTING_TIMEOUT_MS };
  await client.query(statement);
}

export type ConnectionSettings = Readonly<Record<string, string>>;

/** One statement for all of them. @param isLocal for the transaction only */
function settingStatement(settings: ConnectionSettings, isLocal: boolean): string {
  const calls = Object.entries(settings).map(
    ([name, value]) => `set_config(${pg.escapeLiteral(name)}, ${pg.escapeLiteral(value)}, ${isLocal})`,
  );
  return `select ${calls.join(', ')}`;
}

// Statements of connections without a session of their own: a pooler in transaction mode gives each transaction
// whatever session is free. So every transaction begins with its settings, and a statement outside of one is put into
// one: two round trips more.

// What cannot be in a transaction, and what ends one.
const ALONE = /^\s*(?:vacuum|commit|rollback)\b/i;
const COMMIT = /^\s*commit\b/i;
const BEGIN = /^\s*(?:begin|start transaction)\b[^;]*$/i;

type Statement = pg.QueryConfig & { query_timeout?: number };
type Callback = (error: unknown, result?: unknown) => void;

/** A connection before its `query` was replaced. */
interface Connection {
  client: pg.Client;
  send(statement: Statement): Promise<unknown>;
}

const settingsOf = new WeakMap<pg.ClientBase, ConnectionSettings>();

/**
 * Sets something in every transaction of a connection, also in those of one statement. Its statements run in turn. They
 * are never prepared by a name, which another session would not know.
 */
function setInTransactions(client: pg.Client, settings: ConnectionSettings): void {
  settingsOf.set(client, settings);
  const connection = { client, send: client.query.bind(client) as Connection['send'] };
  let turn: Promise<unknown> = Promise.resolve();
  const query = (config: string | Statement, values?: unknown[] | Callback, callback?: Callback): unknown => {
    const statement = {
      ...(typeof config === 'string' ? { text: config } : config),
      ...(Array.isArray(values) && { values }),
      name: undefined,
    };
    const result = turn.then(() => run(connection, statement));
    turn = result.catch(() => undefined);
    const done = typeof values === 'function' ? values : callback;
    if (!done) return result;
    result.then((answer) => done(undefined, answer), done);
    return undefined;
  };
  client.query = query as typeof client.query;
}

/** Sets more in the transactions of a connection from now on. @throws Error where they have no settings */
export function alsoInTransactions(client: pg.ClientBase, settings: ConnectionSettings): void {
  const others = settingsOf.get(client);
  if (!others) throw new Error("This connection's transactions have no settings");
  settingsOf.set(client, { ...others, ...settings });
}

async function run(connection: Connection, statement: Statement): Promise<unknown> {
  const { client, send } = connection;
  const { text, query_timeout } = statement;
  const isInside = client.getTransactionStatus() !== 'I';
  if (isInside && !COMMIT.test(text)) return send(statement);
  try {
    if (isInside || ALONE.test(text)) return await send(statement);
    const settings = settingStatement(settingsOf.get(client) ?? {}, true);
    if (BEGIN.test(text)) return firstOf(await send({ ...statement, text: `${text}; ${settings}` }));
    const deadline = query_timeout === undefined ? {} : { query_timeout };
    await send({ text: `begin; ${settings}`, ...deadline });
    const result = await send(statement);
    await send({ text: 'commit', ...deadline });
    return result;
  } catch (error) {
    await leaveTransaction(connection, error);
    throw error;
  }
}

/**
 * Afterwards the client knows that it is in no transaction: an error comes before the state.
 * Failure policy: a connection that did not answer is closed, because the statement may still be running.
 */
async function leaveTransaction({ client, send }: Connection, error: unknown): Promise<void> {
  if (error instanceof pg.DatabaseError) await send({ text: 'rollback' }).catch(() => void client.end());
  else void client.end();
}

const firstOf = (results: unknown): unknown => (Array.isArray(results) ? results[0] : results);

// Sets the connections of a pool: when they are made, or in every transaction where they have no session of their own.
import type pg from 'pg';
import { setInTransactions } from './per-transaction.ts';
import { isOwn, type Pooling } from './pooling.ts';
import { type ConnectionSettings, settingStatement } from './settings.ts';

// A new connection that gets no answer in that time is given up.
const TIMEOUT_MS = 3000;
// Whatever the server, the database or the role is set to: times are read as they are written here, and plans are not compiled. They
// are short; and before PostgreSQL 18 a plan that cannot do without a scan that is switched off (pool.ts) looks as if it were endless.
const EVERYWHERE: ConnectionSettings = { timezone: 'UTC', datestyle: 'ISO, MDY', jit: 'off' };
// "connection_exception": callers take it for a database that is away (database-errors.ts).
const NO_SESSION = '08000';

/**
 * Gives every connection of a pool its settings before it is handed out.
 * Failure policy: a connection that does not get them is not handed out.
 */
export function keepSettings(pool: pg.Pool, own: ConnectionSettings, pooling: Pooling): void {
  const settings = { ...EVERYWHERE, ...own };
  if (pooling.keepsSession) pool.options.onConnect = (client) => setOnce(client, settings);
  else pool.on('connect', (client) => setInTransactions(client, settings, pooling.namesStatements));
}

async function setOnce(client: pg.ClientBase, settings: ConnectionSettings): Promise<void> {
  const sessionOf = async (text: string) => {
    const statement = { text, query_timeout: TIMEOUT_MS };
    return (await client.query<{ pid: number }>(statement)).rows[0]?.pid;
  };
  const pid = await sessionOf(`${settingStatement(settings, false)}, pg_backend_pid() as pid`);
  if (isOwn(client, pid) || pid === (await sessionOf('select pg_backend_pid() as pid'))) return;
  throw Object.assign(
    new Error(
      'A connection has lost its session, because a pooler gives it to others too: let DATABASE_URL lead to a pooler in session mode or to PostgreSQL itself, or set DATABASE_DIRECT_URL and restart (docs/poolers.md)',
    ),
    { code: NO_SESSION },
  );
}

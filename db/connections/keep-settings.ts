// Sets the connections of a pool: when they are made, or in every transaction where they have no session of their own.
import type pg from 'pg';
import { setInTransactions } from './per-transaction.ts';
import { type ConnectionSettings, settingStatement } from './settings.ts';

// A new connection that gets no answer in that time is given up.
const TIMEOUT_MS = 3000;
// Whatever the server, the database or the role is set to: times are read as they are written here, and plans are not compiled. They
// are short; and before PostgreSQL 18 a plan that cannot do without a scan that is switched off (pool.ts) looks as if it were endless.
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
  const statement = { text: settingStatement(settings, false), query_timeout: TIMEOUT_MS };
  await client.query(statement);
}

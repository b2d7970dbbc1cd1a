// Where Hookyard's database is: for the pools of a process, and for what needs a session of its own (docs/poolers.md).
import { randomUUID } from 'node:crypto';
import { ConfigError, type Settings } from '../../core/config.ts';
import type { Log } from '../../core/log.ts';
import { checkTls, currentUrl, databaseUrl, type DatabaseUrl } from './client.ts';
import { lookAtPooler, lookingClient, type PoolerMode, type Pooling } from './pooling.ts';

export interface Database {
  /** For pools. */
  url: DatabaseUrl;
  /** For LISTEN, migrations and locks of sessions. */
  directUrl: DatabaseUrl;
  /** Of `url`. */
  pooling: Pooling;
}

/**
 * Finds out how the database can be used.
 * @param url DATABASE_URL
 * @throws ConfigError when a pooler stands between and cannot work in its mode, or the settings of TLS cannot be used; a database
 * error when PostgreSQL cannot be reached
 */
export async function findDatabase(settings: Partial<Settings>, url: DatabaseUrl, log: Log): Promise<Database> {
  const ownDirectUrl = databaseUrl(settings, 'DATABASE_DIRECT_URL');
  const directUrl = ownDirectUrl ?? url;
  const isSame = currentUrl(directUrl) === currentUrl(url);
  checkTls(currentUrl(url), 'DATABASE_URL');
  if (!isSame) checkTls(currentUrl(directUrl), 'DATABASE_DIRECT_URL');
  const { mode, pooling } = await lookAtPooler(url, 'DATABASE_URL');
  if (mode === 'statement')
    throw new ConfigError([
      'DATABASE_URL leads to a pooler in statement mode, which has no transactions: use pool_mode = transaction or session (docs/poolers.md)',
    ]);
  if (mode === 'transaction' && isSame)
    throw new ConfigError([
      'DATABASE_URL leads to a pooler in transaction mode, and news of deliveries (LISTEN), migrations and locks of workers need sessions of their own: set DATABASE_DIRECT_URL to PostgreSQL itself, or use pool_mode = session (docs/poolers.md)',
    ]);
  if (!isSame) {
    await requireSessions(directUrl, 'DATABASE_DIRECT_URL');
    await requireSameDatabase(url, directUrl);
  }
  tell(mode, pooling, log);
  return { url, directUrl, pooling };
}

/**
 * Refuses a URL whose connections do not keep their session.
 * @param variable names the URL in messages
 * @throws ConfigError
 */
export async function requireSessions(url: DatabaseUrl, variable: string): Promise<void> {
  const { mode, pooling } = await lookAtPooler(url, variable);
  if (!pooling.keepsSession)
    throw new ConfigError([
      `${variable} leads to a pooler in ${mode} mode, but locks and LISTEN need sessions of their own: let it lead to PostgreSQL itself (docs/poolers.md)`,
    ]);
}

/** A lock that one connection holds is seen by all others of the same database, and by nobody else. */
async function requireSameDatabase(url: DatabaseUrl, directUrl: DatabaseUrl): Promise<void> {
  const [holder, looker] = [lookingClient(directUrl), lookingClient(url)];
  const name = `look:${randomUUID()}`;
  try {
    await Promise.all([holder.connect(), looker.connect()]);
    await holder.query('select pg_advisory_lock(hashtextextended($1, 0))', [name]);
    const { rows } = await looker.query<{ free: boolean }>(
      'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as free',
      [name],
    );
    if (rows[0]?.free !== false)
      throw new ConfigError([
        'DATABASE_DIRECT_URL and DATABASE_URL lead to different databases: let both lead to the same database of the same server (docs/poolers.md)',
      ]);
  } finally {
    await Promise.all([holder, looker].map((client) => client.end().catch(() => undefined)));
  }
}

function tell(mode: PoolerMode, { namesStatements }: Pooling, log: Log): void {
  if (mode === 'session') log.info('a pooler in session mode stands before PostgreSQL');
  if (mode === 'transaction')
    log.info(
      { namesStatements },
      'a pooler in transaction mode stands before PostgreSQL; settings go with every transaction',
    );
}

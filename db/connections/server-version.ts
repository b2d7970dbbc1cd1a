// What the server can do, by its version (docs/production.md).
import { ConfigError } from '../../core/config/config-error.ts';
import type { Queryable } from './pool.ts';

const OLDEST = 15;
/** The first whose roles can be granted without being inherited from: `with inherit false`. */
export const INHERITANCE_BY_GRANT = 16;
/** The first with a right to vacuum a table: `maintain`. */
export const RIGHT_TO_VACUUM = 17;

/** Its major version: 18. */
export async function serverVersion(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ version: number }>(
    `select current_setting('server_version_num')::int / 10000 as version`,
  );
  return rows[0]?.version ?? 0;
}

/**
 * Refuses a server or a database that Hookyard does not run on.
 * @throws ConfigError
 */
export async function requireServer(db: Queryable): Promise<void> {
  const version = await serverVersion(db);
  if (version < OLDEST)
    throw new ConfigError([
      `PostgreSQL ${version} is too old: Hookyard needs ${OLDEST} or newer. Upgrade the server, or use another one (docs/production.md)`,
    ]);
  const { rows } = await db.query<{ encoding: string }>('select getdatabaseencoding()::text as encoding');
  const { encoding = '' } = rows[0] ?? {};
  if (encoding !== 'UTF8')
    throw new ConfigError([
      `The database has the encoding ${encoding}, and webhooks have every character: make it with create database ... encoding 'UTF8' template template0`,
    ]);
}

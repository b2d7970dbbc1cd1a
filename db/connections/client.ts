// The clients that all connections to PostgreSQL are made with: they know where the database is at the moment.
import { readFileSync } from 'node:fs';
import pg from 'pg';
import type { Settings } from '../../core/config/config.ts';
import { ConfigError } from '../../core/config/config-error.ts';
import { currentSecret } from '../../core/config/secret-files.ts';

/** The URL of a database, or what tells it for the next connection. */
export type DatabaseUrl = string | (() => string);

const PROTOCOL = /^postgres(?:ql)?:\/\//;
// Files that the driver reads while it makes a client.
const TLS_FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/**
 * A database of the settings. If its URL is in a file, every new connection reads it, so that a password (or a role) is replaced
 * without a restart. A file that holds no URL then leaves the last one in use.
 */
export function databaseUrl(
  settings: Partial<Settings>,
  name: 'DATABASE_URL' | 'DATABASE_DIRECT_URL',
): DatabaseUrl | undefined {
  if (settings[`${name}_FILE`] === undefined) return settings[name];
  return currentSecret(settings, name, { isUsable: (text) => PROTOCOL.test(text) && URL.canParse(text), freshMs: 0 });
}

export const currentUrl = (url: DatabaseUrl): string => (typeof url === 'string' ? url : url());

/** For the `Client` of a pool: where the database is may change from one connection to the next. */
export function clientOf(url: DatabaseUrl): typeof pg.Client {
  if (typeof url === 'string') return pg.Client;
  return class extends pg.Client {
    constructor(options?: pg.ClientConfig) {
      super({ ...options, connectionString: currentUrl(url) });
    }
  };
}

/**
 * Whether the driver can use what the URL says of TLS. Else it would fail at each connection.
 * @param variable names the URL in messages
 * @throws ConfigError for a file that cannot be read
 */
export function checkTls(url: string, variable: string): void {
  const { searchParams } = new URL(url);
  const problems = TLS_FILES.flatMap((name) => {
    const file = searchParams.get(name);
    if (!file) return [];
    try {
      readFileSync(file);
      return [];
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
      return [`${variable}: ${name}=${file} cannot be read (${code}); does the process have it, and may it read it?`];
    }
  });
  if (problems.length > 0) throw new ConfigError(problems);
}

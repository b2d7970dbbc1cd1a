// Where the database is, and the clients that all connections to PostgreSQL are made with: they know where it is at the
// moment.
import { readFileSync } from 'node:fs';
import pg from 'pg';
import type { Settings } from '../../core/config/config.ts';
import { ConfigError, currentSecret } from '../../core/config/secret-files.ts';
import type { Queryable } from './pool.ts';
import { sql } from './statements.ts';

export type DatabaseUrl = string | (() => string);

const PROTOCOL = /^postgres(?:ql)?:\/\//;
// Files that the driver reads while it makes a client.
const TLS_FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/**
 * A database of the settings. If its URL is in a file, every new connection reads it, so that a password (or a role) is
 * replaced without a restart. A file that holds no URL then leaves the last one in use.
 */
export function databaseUrl(
  settings: Partial<Settings>,
  name: 'DATABASE_URL' | 'DATABASE_DIRECT_URL',
): DatabaseUrl | undefined {
  if (settings[`${name}_FILE`] === undefined) return settings[name];
  return currentSecret(settings, name, { isUsable: (text) => PROTOCOL.test(text) && URL.canParse(text), freshMs: 0 });
}

export const currentUrl = (url: DatabaseUrl): string => (typeof url === 'string' ? url : url());

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
      return [
        `${variable}: ${name}=${file} cannot be read (${code}); check that the file exists and that the process can read it`,
      ];
    }
  });
  if (problems.length > 0) throw new ConfigError(problems);
}

/** Hookyard's database (docs/operate/postgresql.md). */
export interface Database {
  url: DatabaseUrl;
  /** For LISTEN, migrations and locks of sessions. */
  directUrl: DatabaseUrl;
  /** Whether `url` leads to a pooler in transaction mode: where there is a direct URL. */
  transactionPooler: boolean;
}

const REACH_TIMEOUT_MS = 5000;
// Of pg/lib/connection.js, and OpenSSL's names for a certificate that is not accepted (Node documentation, "X509
// certificate error codes").
const NO_TLS = /does not support SSL connections/;
const CERTIFICATE_REFUSED = /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|ERR_TLS_CERT_)/;

/**
 * Finds the database, and connects to it once by each URL.
 * @param url DATABASE_URL
 * @throws ConfigError when the settings of TLS cannot be used, or a pooler refuses a start parameter; a database error
 * when PostgreSQL cannot be reached
 */
export async function findDatabase(settings: Partial<Settings>, url: DatabaseUrl): Promise<Database> {
  const directUrl = databaseUrl(settings, 'DATABASE_DIRECT_URL');
  await reach(url, 'DATABASE_URL');
  if (directUrl !== undefined) await reach(directUrl, 'DATABASE_DIRECT_URL');
  return { url, directUrl: directUrl ?? url, transactionPooler: directUrl !== undefined };
}

/** @param variable names the URL in messages */
async function reach(url: DatabaseUrl, variable: string): Promise<void> {
  checkTls(currentUrl(url), variable);
  const PgClient = clientOf(url);
  const client = new PgClient({
    connectionString: currentUrl(url),
    application_name: 'hookyard-migrate',
    connectionTimeoutMillis: REACH_TIMEOUT_MS,
    query_timeout: REACH_TIMEOUT_MS,
  });
  // Without a listener, an error event would end the process. The statement under way fails as well.
  client.on('error', () => undefined);
  try {
    await client.connect();
    // A pooler may let clients in while PostgreSQL is away.
    await client.query('select');
  } catch (error) {
    throw explained(error, variable);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function explained(error: unknown, variable: string): unknown {
  if (!(error instanceof Error)) return error;
  if (/unsupported startup parameter/i.test(error.message))
    return new ConfigError([
      `A pooler rejected a startup parameter in ${variable} (${error.message}): remove it from the URL and set it for the role instead (docs/operate/postgresql.md)`,
    ]);
  if (NO_TLS.test(error.message) || ('code' in error && CERTIFICATE_REFUSED.test(String(error.code))))
    return new ConfigError([
      `${variable}: could not establish a secure connection (${error.message}); sslrootcert must be the path to the certificate of the CA that signed PostgreSQL's certificate, and PostgreSQL's certificate must include the host name in the URL (docs/operate/configuration.md)`,
    ]);
  return error;
}

const OLDEST = 15;
/** The first whose roles can be granted without being inherited from: `with inherit false`. */
export const INHERITANCE_BY_GRANT = 16;
/** The first with a right to vacuum a table: `maintain`. */
export const RIGHT_TO_VACUUM = 17;

/** Its major version: 18. */
export async function serverVersion(db: Queryable): Promise<number> {
  return sql(db).value<number>`select current_setting('server_version_num')::int / 10000`;
}

/**
 * Refuses a server or a database that Hookyard does not run on.
 * @throws ConfigError
 */
export async function requireServer(db: Queryable): Promise<void> {
  const version = await serverVersion(db);
  if (version < OLDEST)
    throw new ConfigError([
      `PostgreSQL ${version} is too old: Hookyard needs ${OLDEST} or newer; upgrade the server or use another one (docs/operate/production.md)`,
    ]);
  const encoding = await sql(db).value<string>`select getdatabaseencoding()::text`;
  if (encoding !== 'UTF8')
    throw new ConfigError([
      `The database encoding is ${encoding}, but webhooks can contain any character; create a new database with: create database ... encoding 'UTF8' template template0`,
    ]);
}

// A connection outside of the pools, for what belongs to a session: notifications, advisory locks.

interface KeptConnectionOptions {
  /** Deadline of the connection and of each statement, ms. */
  timeoutMs: number;
  setUp: string;
  onLost: () => void;
  onNotification?: (payload: string | undefined) => void;
}

export class KeptConnection {
  readonly #url: DatabaseUrl;
  readonly #options: KeptConnectionOptions;
  #client: pg.Client | null = null;

  constructor(url: DatabaseUrl, options: KeptConnectionOptions) {
    this.#url = url;
    this.#options = options;
  }

  get isUp(): boolean {
    return this.#client !== null;
  }

  /** The session, made anew if there is none. @throws when the database does not answer */
  async session(): Promise<pg.Client> {
    if (this.#client) return this.#client;
    const { timeoutMs, setUp, onNotification } = this.#options;
    const client = new (clientOf(this.#url))({
      connectionString: currentUrl(this.#url),
      application_name: 'hookyard-worker',
      keepAlive: true,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
    });
    // Without a listener, an error event would end the process. A broken connection ends as well.
    client.on('error', () => undefined);
    client.once('end', () => this.drop(client));
    if (onNotification) client.on('notification', ({ payload }) => onNotification(payload));
    try {
      await client.connect();
      await client.query(setUp);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    this.#client = client;
    return client;
  }

  /**
   * Ends a session that does not answer, or whose state is unknown. Nothing happens when there is another one already.
   */
  drop(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    this.#options.onLost();
    void client.end().catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#client?.end().catch(() => undefined);
  }
}

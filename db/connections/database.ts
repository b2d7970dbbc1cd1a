// Where Hookyard's database is: for the pools of a process, and for what needs a session of its own (docs/poolers.md).
import type { Settings } from '../../core/config/config.ts';
import { ConfigError } from '../../core/config/config-error.ts';
import { checkTls, clientOf, currentUrl, databaseUrl, type DatabaseUrl } from './client.ts';

export interface Database {
  /** For pools. */
  url: DatabaseUrl;
  /** For LISTEN, migrations and locks of sessions. */
  directUrl: DatabaseUrl;
  /** Whether `url` leads to a pooler in transaction mode: where there is a direct URL. */
  transactionPooler: boolean;
}

const TIMEOUT_MS = 5000;
// Of pg/lib/connection.js, and OpenSSL's names for a certificate that is not accepted (Node documentation, "X509 certificate error codes").
const NO_TLS = /does not support SSL connections/;
const CERTIFICATE_REFUSED = /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|ERR_TLS_CERT_)/;

/**
 * Finds the database, and connects to it once by each URL.
 * @param url DATABASE_URL
 * @throws ConfigError when the settings of TLS cannot be used, or a pooler refuses a start parameter; a database error when PostgreSQL
 * cannot be reached
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
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
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
      `A pooler refuses a start parameter of ${variable} (${error.message}): remove it from the URL, and set it for the role instead (docs/poolers.md)`,
    ]);
  if (NO_TLS.test(error.message) || ('code' in error && CERTIFICATE_REFUSED.test(String(error.code))))
    return new ConfigError([
      `${variable}: no secure connection (${error.message}); sslrootcert must name the file of the authority that signed PostgreSQL's certificate, and the host must be in the certificate (docs/configuration.md)`,
    ]);
  return error;
}

// Whether a pooler stands between Hookyard and PostgreSQL, and what it does with sessions (docs/poolers.md).
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { ConfigError } from '../../core/config.ts';
import { clientOf, currentUrl, type DatabaseUrl } from './client.ts';

/** What a connection can rely on between two transactions. */
export interface Pooling {
  /** Whether it has a session of its own, whose settings stay. Else a pooler gives it one for each transaction. */
  keepsSession: boolean;
  /** Whether statements may have names: they are prepared once. */
  namesStatements: boolean;
}

/** Of PostgreSQL itself, or of a pooler in session mode. */
export const OWN_SESSIONS: Pooling = { keepsSession: true, namesStatements: true };

/** `none`: there is no pooler. */
export type PoolerMode = 'none' | 'session' | 'transaction' | 'statement';

const CLIENTS = 3;
const ROUNDS = 4;
const TRIES = 5;
const TIMEOUT_MS = 5000;
// Of pg/lib/connection.js, and OpenSSL's names for a certificate that is not accepted (Node documentation, "X509 certificate error codes").
const NO_TLS = /does not support SSL connections/;
const CERTIFICATE_REFUSED = /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|ERR_TLS_CERT_)/;

/**
 * Looks what stands before PostgreSQL, by connections of its own.
 * @param variable names the URL in messages
 * @throws ConfigError when a pooler refuses a start parameter; a database error when PostgreSQL cannot be reached
 */
export async function lookAtPooler(
  databaseUrl: DatabaseUrl,
  variable: string,
): Promise<{ mode: PoolerMode; pooling: Pooling }> {
  const clients = Array.from({ length: CLIENTS }, () => lookingClient(databaseUrl));
  const [one, other] = clients as [pg.Client, pg.Client];
  try {
    await one.connect();
    if (isOwn(one, await sessionOf(one))) return { mode: 'none', pooling: OWN_SESSIONS };
    for (const client of clients.slice(1)) await client.connect();
    if (await haveOwnSessions(clients)) return { mode: 'session', pooling: OWN_SESSIONS };
    const mode = (await takesTransactions(one)) ? 'transaction' : 'statement';
    const namesStatements = mode === 'transaction' && (await takesNames(one, other));
    return { mode, pooling: { keepsSession: false, namesStatements } };
  } catch (error) {
    throw explained(error, variable);
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}

/** Whether a connection leads to PostgreSQL itself. */
export async function isDirect(client: pg.Client): Promise<boolean> {
  return isOwn(client, await sessionOf(client));
}

/**
 * The same, where the session is known. PostgreSQL told its process id when the connection was made; a pooler tells a number of its
 * own there, because it passes on requests to cancel.
 * @param pid the result of `pg_backend_pid()`
 */
export function isOwn(client: pg.ClientBase, pid: number | undefined): boolean {
  return pid !== undefined && 'processID' in client && client.processID === pid;
}

/** For a look at the database before its pools are opened. */
export function lookingClient(databaseUrl: DatabaseUrl): pg.Client {
  const PgClient = clientOf(databaseUrl);
  const client = new PgClient({
    connectionString: currentUrl(databaseUrl),
    application_name: 'hookyard-migrate',
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  // Without a listener, an error event would end the process. The statement under way fails as well.
  client.on('error', () => undefined);
  return client;
}

async function sessionOf(client: pg.Client, name?: string): Promise<number | undefined> {
  const text = 'select pg_backend_pid() as pid';
  return (await client.query<{ pid: number }>({ text, ...(name !== undefined && { name }) })).rows[0]?.pid;
}

/**
 * Whether each has a session, and keeps it. They ask in turn, forth and back, so that the sessions of a pooler that shares them are
 * the same for several, or others in the next round, however it deals them out.
 */
async function haveOwnSessions(clients: pg.Client[]): Promise<boolean> {
  const sessions = new Map<pg.Client, number | undefined>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const client of round % 2 === 0 ? clients : clients.toReversed()) {
      const session = await sessionOf(client);
      if (sessions.has(client) && sessions.get(client) !== session) return false;
      sessions.set(client, session);
    }
  }
  return new Set(sessions.values()).size === clients.length;
}

async function takesTransactions(client: pg.Client): Promise<boolean> {
  try {
    await client.query('begin');
    await client.query('rollback');
    return true;
  } catch (error) {
    if (error instanceof Error && /statement pooling/i.test(error.message)) return false;
    throw error;
  }
}

/**
 * Whether a named statement of one connection is known wherever the pooler sends it: PgBouncer from 1.21 on sees to that, with
 * `max_prepared_statements`. The other connection holds a session meanwhile, so that the statement gets another one. Each look has a
 * name of its own: sessions keep what the look of another process has prepared on them.
 * Failure policy: where this cannot be seen, statements have no names. That works everywhere and takes PostgreSQL more time.
 */
async function takesNames(one: pg.Client, other: pg.Client): Promise<boolean> {
  const name = `look-${randomUUID()}`;
  const seen = new Set<number | undefined>();
  try {
    seen.add(await sessionOf(one, name));
    for (let tries = 0; tries < TRIES && seen.size === 1; tries += 1) {
      await other.query('begin');
      await sessionOf(other);
      seen.add(await sessionOf(one, name));
      await other.query('rollback');
    }
  } catch {
    return false;
  }
  return seen.size > 1;
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
  if (/Query read timeout/.test(error.message))
    return new Error(
      `timeout: ${variable} gave no session within ${TIMEOUT_MS / 1000} s; PostgreSQL is away, or the pool of a pooler is too small (docs/poolers.md)`,
      { cause: error },
    );
  return error;
}

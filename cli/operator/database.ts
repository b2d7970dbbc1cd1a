// The service's database, for what an operator does: DATABASE_DIRECT_URL, else DATABASE_URL, or the one that npm start
// runs on this machine.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool } from '../../db/connections/pool.ts';
import { secretOf } from '../../core/config/secret-files.ts';
import { dataFolder } from '../context.ts';
import { CliError, EXIT } from '../errors.ts';
import type { DatabaseRole } from '../../local/postgres/roles.ts';

const STATEMENT_TIMEOUT_MS = 10_000;

export const ON_THE_DATABASE = `
This command uses the service's database. Its URL is read from DATABASE_DIRECT_URL, or if that is not set, from DATABASE_URL (or from
the files that DATABASE_DIRECT_URL_FILE and DATABASE_URL_FILE name). If no URL is set, the embedded database of the service on this
machine is used (in HOOKYARD_DATA_DIR or the default data folder).`;

/** @throws CliError when the database cannot be used, or refuses */
export async function onDatabase<Result>(
  work: (pool: Pool) => Promise<Result>,
  given = secretOf(process.env, 'DATABASE_DIRECT_URL') ?? secretOf(process.env, 'DATABASE_URL'),
): Promise<Result> {
  const url = given ?? (await localDatabase());
  // Loaded here, so that the other commands start without the database driver.
  const { checkTls } = await import('../../db/connections/client.ts');
  const { createPool } = await import('../../db/connections/pool.ts');
  const options = { name: 'hookyard-cli', max: 1, statementTimeoutMs: STATEMENT_TIMEOUT_MS, onError: () => {} };
  const pool = createPool(url, options);
  try {
    checkTls(url, 'The database URL');
    return await work(pool);
  } catch (error) {
    throw error instanceof CliError ? error : explained(error);
  } finally {
    await pool.end();
  }
}

function explained(error: unknown): CliError {
  const { name, code, message } = error as { name: string; code?: string; message: string };
  if (name === 'ConfigError') return new CliError(EXIT.refused, message);
  if (code === '23505')
    return new CliError(EXIT.refused, 'An organization with this slug already exists; choose another --slug');
  if (code === '23514' || error instanceof RangeError) return new CliError(EXIT.refused, message);
  if (code === '42501')
    return new CliError(
      EXIT.refused,
      `The role in the database URL is not allowed to do this (${message}); see docs/operate/postgresql.md`,
    );
  if (code === '42P01' || code === '42703')
    return new CliError(
      EXIT.unavailable,
      'The database has no tables yet, or the tables of an earlier version of Hookyard; start the service or run hookyard migrate to create or update them',
    );
  return new CliError(
    EXIT.unavailable,
    `The database cannot be used (${code ?? message}); is the database URL correct, and is PostgreSQL running?`,
  );
}

/** The database that npm start runs; PostgreSQL writes its port into the fourth line of postmaster.pid. */
async function localDatabase(): Promise<string> {
  const { readRolePasswords } = await import('../../local/postgres/roles.ts');
  const folder = dataFolder();
  try {
    const port = readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[3];
    const role: DatabaseRole = 'hookyard_runtime';
    return `postgres://${role}:${readRolePasswords(folder)[role]}@127.0.0.1:${port}/hookyard`;
  } catch {
    throw new CliError(
      EXIT.unavailable,
      `No database is running in ${folder}; run npx hookyard start, or set DATABASE_URL or HOOKYARD_DATA_DIR to the service's value`,
    );
  }
}

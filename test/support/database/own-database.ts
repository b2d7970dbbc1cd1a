// A database for one test file, beside the one that all share: no worker does what its tests do.
import { randomBytes } from 'node:crypto';
import { newId } from '../../../core/text/ids.ts';
import { createPool, type Pool } from '../../../db/connections/pool.ts';
import { asServices, stackAddresses } from '../stack.ts';
import { makeTables } from './make-tables.ts';
import { execute } from './sql.ts';

const STATEMENT_TIMEOUT_MS = 20_000;

export interface CreatedDatabase {
  databaseUrl: string;
  drop: () => Promise<void>;
}

export interface OwnDatabase {
  pool: Pool;
  databaseUrl: string;
  /** Ends the pool and drops the database. */
  close(): Promise<void>;
}

/**
 * A migrated database.
 * @param name what its name begins with
 * @param options.connections of the pool
 * @param options.statementTimeoutMs of the pool; its client has this deadline too, whatever the server is told later
 */
export async function ownDatabase(
  name: string,
  options: { connections?: number; statementTimeoutMs?: number } = {},
): Promise<OwnDatabase> {
  const { databaseUrl, drop } = await createMigratedDatabase(`${name}_${randomBytes(4).toString('hex')}`);
  const { connections = 4, statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
  const pool = createPool(databaseUrl, { max: connections, statementTimeoutMs, onError: () => {} });
  return {
    pool,
    databaseUrl,
    async close() {
      await pool.end();
      await drop();
    },
  };
}

/** An empty database beside another one, by default the stack's own, and how to remove it. */
export function createDatabase(name: string, beside: string = stackAddresses().databaseUrl): Promise<CreatedDatabase> {
  return create(name, beside, 'template1');
}

const TEMPLATE = 'test_template';
let template: Promise<string> | undefined;

/**
 * A copy of another database of the stack's server. Nobody may be connected to that one; idle connections are ended.
 */
export async function copyDatabase(name: string, databaseUrl: string): Promise<CreatedDatabase> {
  const beside = stackAddresses().databaseUrl;
  const template = new URL(databaseUrl).pathname.slice(1);
  await administer(beside, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${template}'`);
  return create(name, beside, template);
}

/** A migrated database on the stack's server: a copy of one that is migrated once for all test files. */
export async function createMigratedDatabase(name: string): Promise<CreatedDatabase> {
  const { databaseUrl } = stackAddresses();
  template ??= makeTemplate(databaseUrl, new URL(asServices(databaseUrl)).username);
  return create(name, databaseUrl, await template);
}

/**
 * Makes the database that others are copied from, unless the stack was started with it.
 * @param beside a database of the same server, as its superuser
 * @param runtimeRole of Hookyard's processes
 * @returns its name
 */
export async function makeTemplate(beside: string, runtimeRole: string): Promise<string> {
  const { rows } = await administer(beside, `select from pg_database where datname = '${TEMPLATE}'`);
  if (rows.length > 0) return TEMPLATE;
  const { databaseUrl } = await createDatabase(TEMPLATE, beside);
  await makeTables(databaseUrl, runtimeRole);
  return TEMPLATE;
}

async function create(name: string, beside: string, template: string): Promise<CreatedDatabase> {
  await administer(beside, `create database ${name} template ${template}`);
  const own = new URL(beside);
  own.pathname = `/${name}`;
  return {
    databaseUrl: own.href,
    drop: async () => void (await administer(beside, `drop database ${name} with (force)`)),
  };
}

async function administer(url: string, statement: string) {
  const pool = createPool(url, { max: 1, statementTimeoutMs: STATEMENT_TIMEOUT_MS, onError: () => {} });
  return pool.query(statement).finally(() => pool.end());
}

/** An organization with one source, which an own database has none of. @param slug of the organization */
export async function insertSource(pool: Pool, slug = 'acme'): Promise<{ organizationId: string; sourceId: string }> {
  const [organizationId, sourceId] = [newId('org'), newId('src')];
  await execute(pool)`insert into organizations (id, slug, name, plan)
    values (${organizationId}, ${slug}, 'Acme', 'business')`;
  await execute(pool)`insert into sources (id, organization_id, name, slug)
    values (${sourceId}, ${organizationId}, 'Orders', 'orders')`;
  return { organizationId, sourceId };
}

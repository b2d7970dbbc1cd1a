// A database for one test file, beside the one that all share: no worker does what its tests do.
import { randomBytes } from 'node:crypto';
import { newId } from '../../core/ids.ts';
import { migrate } from '../../db/migrate.ts';
import { createPool, type Pool } from '../../db/pool.ts';
import { grantRuntime } from '../../db/rights.ts';
import { grantTenant } from '../../db/tenants/rights.ts';
import { TENANT_ROLE } from '../../local/role-passwords.ts';
import { asServices, stackAddresses } from './stack.ts';

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
  const pool = createPool(databaseUrl, {
    max: connections,
    statementTimeoutMs,
    onError: () => {},
  });
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

async function grantServices(databaseUrl: string): Promise<void> {
  const pool = createPool(databaseUrl, { max: 1, statementTimeoutMs: STATEMENT_TIMEOUT_MS, onError: () => {} });
  const { username } = new URL(asServices(databaseUrl));
  await grantRuntime(pool, username);
  await grantTenant(pool, TENANT_ROLE);
  await pool.end();
}

let template: Promise<string> | undefined;

/** A migrated database on the stack's server: a copy of one that is migrated once for all test files. */
export async function createMigratedDatabase(name: string): Promise<CreatedDatabase> {
  template ??= makeTemplate();
  return create(name, stackAddresses().databaseUrl, await template);
}

async function makeTemplate(): Promise<string> {
  const name = `template_${randomBytes(4).toString('hex')}`;
  const { databaseUrl } = await createDatabase(name);
  await migrate(databaseUrl);
  await grantServices(databaseUrl);
  return name;
}

async function create(name: string, beside: string, template: string): Promise<CreatedDatabase> {
  const url = new URL(beside);
  const administer = async (statement: string) => {
    const options = { max: 1, statementTimeoutMs: STATEMENT_TIMEOUT_MS, onError: () => {} };
    const pool = createPool(url.href, options);
    await pool.query(statement).finally(() => pool.end());
  };
  await administer(`create database ${name} template ${template}`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  return { databaseUrl: own.href, drop: () => administer(`drop database ${name} with (force)`) };
}

/** An organization with one source, which an own database has none of. */
export async function insertSource(pool: Pool): Promise<{ organizationId: string; sourceId: string }> {
  const [organizationId, sourceId] = [newId('org'), newId('src')];
  await pool.query(`insert into organizations (id, slug, name, plan) values ($1, 'acme', 'Acme', 'business')`, [
    organizationId,
  ]);
  await pool.query(`insert into sources (id, organization_id, name, slug) values ($1, $2, 'Orders', 'orders')`, [
    sourceId,
    organizationId,
  ]);
  return { organizationId, sourceId };
}

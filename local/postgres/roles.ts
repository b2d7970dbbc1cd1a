// The roles of the embedded PostgreSQL (docs/operate/postgresql.md). The superuser makes them and is used for nothing
// else. Run at every start, so that roles of a new version are made in a data folder that exists.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { INHERITANCE_BY_GRANT, serverVersion } from '../../db/connections/client.ts';

/** Each database with its owner, and who else may connect. */
const DATABASES: { name: string; owner: DatabaseRole; others: DatabaseRole[] }[] = [
  { name: 'hookyard', owner: 'hookyard_owner', others: ['hookyard_runtime'] },
  { name: 'temporal', owner: 'hookyard_temporal', others: [] },
  { name: 'temporal_visibility', owner: 'hookyard_temporal', others: [] },
];

/** Safe to repeat. @param urlOf the superuser's URL of a database */
export async function setUpRoles(urlOf: (database: string) => string, passwords: Passwords): Promise<void> {
  await withClient(urlOf('postgres'), async (client) => {
    for (const role of ROLES) await makeRole(client, role, `login password ${client.escapeLiteral(passwords[role])}`);
    await makeRole(client, TENANT_ROLE, 'nologin');
    await grantTenantRole(client);
    const { rows } = await client.query<{ name: string }>('select datname as name from pg_database');
    for (const { name, owner, others } of DATABASES) {
      if (!rows.some((row) => row.name === name)) await client.query(`create database ${name} owner ${owner}`);
      await client.query(`alter database ${name} owner to ${owner}`);
      await client.query(`revoke connect, temporary on database ${name} from public`);
      for (const other of others) await client.query(`grant connect on database ${name} to ${other}`);
    }
  });
}

/**
 * The services may act as the tenants, and inherit nothing from them. Before 16, that is an attribute of a role and not
 * of the grant.
 */
async function grantTenantRole(client: pg.Client): Promise<void> {
  const services: DatabaseRole = 'hookyard_runtime';
  const byGrant = (await serverVersion(client)) >= INHERITANCE_BY_GRANT;
  if (!byGrant) await client.query(`alter role ${services} noinherit`);
  await client.query(`grant ${TENANT_ROLE} to ${services}${byGrant ? ' with inherit false, set true' : ''}`);
}

async function makeRole(client: pg.Client, role: string, login: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [role]);
  const attributes = `nosuperuser nocreatedb nocreaterole nobypassrls ${login}`;
  await client.query(`${rowCount === 0 ? 'create' : 'alter'} role ${role} ${attributes}`);
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'hookyard-setup' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export const ROLES = ['hookyard_owner', 'hookyard_runtime', 'hookyard_temporal'] as const;
export type DatabaseRole = (typeof ROLES)[number];
export const TENANT_ROLE = 'hookyard_tenant';
export type Passwords = Record<DatabaseRole, string>;

const fileOf = (dataDir: string) => join(dataDir, 'postgres-roles.json');

export function makeRolePasswords(dataDir: string): Passwords {
  if (!existsSync(fileOf(dataDir))) {
    const made = Object.fromEntries(ROLES.map((role) => [role, randomBytes(24).toString('base64url')]));
    writeFileSync(fileOf(dataDir), `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600, flush: true });
  }
  return readRolePasswords(dataDir);
}

/** @throws when they have not been made */
export function readRolePasswords(dataDir: string): Passwords {
  return JSON.parse(readFileSync(fileOf(dataDir), 'utf8'));
}

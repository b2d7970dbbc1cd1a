// The passwords of the embedded PostgreSQL's roles: random, in a file of the data folder that only its owner can read.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROLES = ['hookyard_owner', 'hookyard_runtime', 'hookyard_temporal'] as const;
export type DatabaseRole = (typeof ROLES)[number];
/** Cannot log in. */
export const TENANT_ROLE = 'hookyard_tenant';
export type Passwords = Record<DatabaseRole, string>;

const fileOf = (dataDir: string) => join(dataDir, 'postgres-roles.json');

/** Made at the first start. */
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

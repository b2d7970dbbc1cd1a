// API keys, and the one-time codes of the console's sign-in links that are exchanged for keys.
import type { Plan, Scope } from '../../core/config/plans-and-scopes.ts';
import type { LimitOverrides } from '../../core/fairness/organization-limits.ts';
import { firstRow, type Queryable, inTransaction, type Pool } from '../connections/pool.ts';
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { newId } from '../../core/text/ids.ts';
import { operatorEntry, type AuditEntry, recordEntry } from './audit.ts';
import { hashToken, newToken } from '../../core/config/api-token.ts';
import { raw, sql } from '../connections/statements.ts';

export interface ValidKey {
  id: string;
  name: string;
  scopes: Scope[];
  /** Ranges in CIDR notation; null: every address. */
  allowedAddresses: string[] | null;
  expiresAt: Date | null;
  tokenHash: Buffer;
  organizationId: string;
  organizationName: string;
  slug: string;
  plan: Plan;
  limits: LimitOverrides;
  /** Its organization may read only. */
  suspended: boolean;
  useIsDue: boolean;
}

// To the minute, so that a busy key costs one write a minute.
const USE_IS_DUE = `coalesce(last_used_at < now() - interval '1 minute', true)`;

// The only lookup without an organization: it determines the organization of the request.
const FIND = `
select k.id, k.name, k.scopes, k.allowed_addresses as "allowedAddresses", k.expires_at as "expiresAt",
       k.token_hash as "tokenHash", o.id as "organizationId", o.name as "organizationName", o.slug, o.plan, o.limits,
       o.suspended_at is not null as suspended, ${USE_IS_DUE} as "useIsDue"
from api_keys k join organizations o on o.id = k.organization_id and o.deleted_at is null
where k.token_hash = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`;

/** Read for every request, without a cache: revoking a key takes effect at once, in every process. */
export async function findKey(db: Queryable, tokenHash: Buffer): Promise<ValidKey | null> {
  return (await firstRow<ValidKey>(db, { name: 'find-key', text: FIND, values: [tokenHash] })) ?? null;
}

const IS_VALID = `
select exists (
  select from api_keys k join organizations o on o.id = k.organization_id and o.deleted_at is null
  where k.organization_id = $1 and k.id = $2 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
) as valid`;

/** Whether a key that was found before is still valid: for an answer that continues for long. */
export async function isStillValid(db: Queryable, organizationId: string, keyId: string): Promise<boolean> {
  const values = [organizationId, keyId];
  return (await firstRow<{ valid: boolean }>(db, { name: 'is-key-valid', text: IS_VALID, values }))?.valid === true;
}

export async function noteUse(db: Queryable, organizationId: string, keyId: string): Promise<void> {
  // One of several concurrent requests writes.
  await sql(db).run`
    update api_keys set last_used_at = now() where organization_id = ${organizationId} and id = ${keyId}
      and ${raw(USE_IS_DUE)}`;
}

export interface NewKey {
  name: string;
  scopes: string[];
  /** Ranges in CIDR notation; null: every address. */
  allowedAddresses: string[] | null;
  /** Null: it does not expire. */
  expiresAt: Date | null;
}

/** Of an organization, with both scopes. */
export const FIRST_KEY: NewKey = {
  name: 'First key',
  scopes: ['read', 'write'],
  allowedAddresses: null,
  expiresAt: null,
};

export interface CreatedKey extends NewKey {
  id: string;
  /** The only time it is known. */
  token: string;
}

/**
 * Makes an API key.
 * @returns null when the organization is gone or being deleted, or somebody has a key with this token
 */
export async function createKey(
  db: Queryable,
  organizationId: string,
  { id = newId('key'), ...key }: NewKey & { id?: string },
  token = newToken(),
): Promise<CreatedKey | null> {
  // The row lock orders this against a deletion that is requested at the same moment, which removes all keys.
  const rowCount = await sql(db).run`
    with organization as (select id from organizations where id = ${organizationId} and deleted_at is null for share)
    insert into api_keys (id, organization_id, name, token_hash, token_hint, scopes, expires_at, allowed_addresses)
    select ${id}, id, ${key.name}, ${hashToken(token)}, ${token.slice(-4)}, ${key.scopes}::text[], ${key.expiresAt},
      ${key.allowedAddresses}::text[] from organization on conflict (token_hash) do nothing`;
  return rowCount === 1 ? { ...key, id, token } : null;
}

const CODE_MINUTES = 10;
const KEY_HOURS = 12;
const KEY_NAME = 'Console sign-in';

/**
 * Makes a code for an organization; it is good once, for ten minutes.
 * @param command how its maker is named in the audit log
 */
export async function makeConsoleCode(pool: Pool, organizationId: string, command: string): Promise<string> {
  const code = randomBytes(32).toString('base64url');
  await inTransaction(pool, async (db) => {
    await sql(db).run`delete from console_codes where expires_at <= now()`;
    await sql(db).run`
      insert into console_codes (code_hash, owner_id, expires_at) values (${hashToken(code)}, ${organizationId},
        now() + make_interval(mins => ${CODE_MINUTES}))`;
    const entry = { action: 'makeConsoleCode', resource: 'keys', recordIds: [], members: [] };
    await recordEntry(db, operatorEntry({ organizationId, command, ...entry }));
  });
  return code;
}

/** A key that a code was exchanged for: the only time its token is known. */
export interface ConsoleKey {
  token: string;
  expiresAt: Date;
}

export type LinkFollower = Pick<AuditEntry, 'address' | 'userAgent' | 'requestId'>;

/**
 * Exchanges a code for a key that expires. Of two exchanges of one code at a time one waits for the other and finds
 * nothing.
 * @returns null for a code that there is not, that has expired, or that was exchanged before
 */
export async function exchangeConsoleCode(
  pool: Pool,
  code: string,
  follower: LinkFollower,
): Promise<ConsoleKey | null> {
  return inTransaction(pool, async (db) => {
    const organizationId = await takeCode(db, code);
    if (organizationId === null) return null;
    const token = newToken();
    const id = newId('key');
    // Keys of earlier sign-ins would fill the list of keys.
    await sql(db).run`
      update api_keys set revoked_at = now() where organization_id = ${organizationId} and name = ${KEY_NAME}
        and expires_at <= now() and revoked_at is null`;
    const rows = await sql(db).rows<{ expiresAt: Date }>`
      insert into api_keys (id, organization_id, name, token_hash, token_hint, scopes, expires_at)
      values (${id}, ${organizationId}, ${KEY_NAME}, ${hashToken(token)}, ${token.slice(-4)}, '{read,write}',
        now() + make_interval(hours => ${KEY_HOURS}))
      returning expires_at`;
    // The link is the operator's, who may have given it to somebody else: so the record has the sender of the request.
    const entry: AuditEntry = {
      ...{ organizationId, ...follower, actor: 'operator', action: 'signIn', resource: 'keys' },
      ...{ recordIds: [id], members: ['code'], outcome: 'done' },
    };
    await recordEntry(db, entry);
    if (!rows[0]) throw new Error('PostgreSQL returned no row for a stored key');
    return { token, expiresAt: rows[0].expiresAt };
  });
}

async function takeCode(db: Queryable, code: string): Promise<string | null> {
  const hash = hashToken(code);
  const rows = await sql(db).rows<{ codeHash: Buffer; ownerId: string }>`
    delete from console_codes c using organizations o
    where c.code_hash = ${hash} and c.expires_at > now() and o.id = c.owner_id and o.deleted_at is null
    returning c.code_hash, c.owner_id`;
  // The index compares hashes, which tell nothing about the code by the time that takes; this one does not depend on
  // the index.
  return rows[0] && timingSafeEqual(rows[0].codeHash, hash) ? rows[0].ownerId : null;
}

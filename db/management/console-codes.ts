// One-time codes of the console's sign-in links, and the keys that they are exchanged for.
// Rules: AUTH-23.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { newId } from '../../core/text/ids.ts';
import { operatorEntry } from '../audit/operator.ts';
import { type AuditEntry, recordEntry } from '../audit/records.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { hashToken, newToken } from '../../core/config/api-token.ts';

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
    await db.query('delete from console_codes where expires_at <= now()');
    await db.query(
      `insert into console_codes (code_hash, owner_id, expires_at) values ($1, $2, now() + make_interval(mins => $3))`,
      [hashToken(code), organizationId, CODE_MINUTES],
    );
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

/** Who follows a link, as the audit log names the sender of a request. */
export type LinkFollower = Pick<AuditEntry, 'address' | 'userAgent' | 'requestId'>;

/**
 * Exchanges a code for a key that expires. Of two exchanges of one code at a time one waits for the other and finds nothing.
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
    await db.query(
      'update api_keys set revoked_at = now() where organization_id = $1 and name = $2 and expires_at <= now() and revoked_at is null',
      [organizationId, KEY_NAME],
    );
    const { rows } = await db.query<{ expiresAt: Date }>(
      `insert into api_keys (id, organization_id, name, token_hash, token_hint, scopes, expires_at)
       values ($1, $2, $3, $4, $5, '{read,write}', now() + make_interval(hours => $6)) returning expires_at as "expiresAt"`,
      [id, organizationId, KEY_NAME, hashToken(token), token.slice(-4), KEY_HOURS],
    );
    // The link is the operator's, who may have given it to somebody else: so the record has the sender of the request.
    const entry: AuditEntry = {
      ...{ organizationId, ...follower, actor: 'operator', action: 'signIn', resource: 'keys' },
      ...{ recordIds: [id], members: ['code'], outcome: 'done' },
    };
    await recordEntry(db, entry);
    if (!rows[0]) throw new Error('a key that was stored has no row');
    return { token, expiresAt: rows[0].expiresAt };
  });
}

async function takeCode(db: Queryable, code: string): Promise<string | null> {
  const hash = hashToken(code);
  const { rows } = await db.query<{ codeHash: Buffer; ownerId: string }>(
    `delete from console_codes c using organizations o
     where c.code_hash = $1 and c.expires_at > now() and o.id = c.owner_id and o.deleted_at is null
     returning c.code_hash as "codeHash", c.owner_id as "ownerId"`,
    [hash],
  );
  // The index compares hashes, which tell nothing about the code by the time that takes; this one does not depend on the index.
  return rows[0] && timingSafeEqual(rows[0].codeHash, hash) ? rows[0].ownerId : null;
}

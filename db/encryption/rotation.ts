// Rotation of encryption keys: finds the keys in use, and re-encrypts values with the first one.
import type { SecretBox } from './secret-box.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';

interface SealedColumn {
  /** A name for operators. */
  what: string;
  table: string;
  column: string;
  /** SQL of the id that the cipher text is bound to. */
  recordId: string;
  /** Whether the service needs it to start; for the others, a decryption error is reported when the value is used. */
  vital: boolean;
}

const IDEMPOTENT_ID = `organization_id || ':' || encode(id, 'hex')`;

/** Every column that holds what SecretBox makes; a test looks for cipher texts in all others. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { what: 'source', table: 'sources', column: 'verification_secret', recordId: 'id', vital: true },
  { what: 'source', table: 'sources', column: 'previous_verification_secret', recordId: 'id', vital: true },
  { what: 'source', table: 'sources', column: 'ingest_token_value', recordId: 'id', vital: true },
  { what: 'source', table: 'sources', column: 'previous_token_value', recordId: 'id', vital: true },
  { what: 'source', table: 'sources', column: 'handshake_token', recordId: 'id', vital: true },
  { what: 'handshake', table: 'source_handshakes', column: 'shown', recordId: 'source_id', vital: false },
  { what: 'destination', table: 'destinations', column: 'auth_config', recordId: 'id', vital: true },
  { what: 'destination', table: 'destinations', column: 'signing_secret', recordId: 'id', vital: true },
  { what: 'destination', table: 'destinations', column: 'previous_signing_secret', recordId: 'id', vital: true },
  { what: 'destination', table: 'destinations', column: 'config', recordId: 'id', vital: true },
  { what: 'alert channel', table: 'alert_channels', column: 'config', recordId: 'id', vital: true },
  { what: 'alert channel', table: 'alert_channels', column: 'previous_secret', recordId: 'id', vital: true },
  { what: 'answer', table: 'idempotent_requests', column: 'answer', recordId: IDEMPOTENT_ID, vital: false },
];

/** What is encrypted with one key in one column; `examples` are up to three of the cipher texts. */
export interface KeyUse {
  keyId: string;
  what: string;
  count: number;
  examples: { recordId: string; sealed: string }[];
}

const EXAMPLES = 3;

/** Which keys are in use, read from all cipher texts. @param vitalOnly skips columns that the service does not need to start */
export async function keyUse(db: Queryable, vitalOnly: boolean): Promise<KeyUse[]> {
  const used: KeyUse[] = [];
  for (const { what, table, column, recordId, vital } of SEALED_COLUMNS) {
    if (vitalOnly && !vital) continue;
    const keyId = `split_part(${column}, '.', 2)`;
    const { rows: keys } = await db.query<{ keyId: string; count: number }>(
      `select ${keyId} as "keyId", count(*)::int as count from ${table} where ${column} is not null group by 1 order by 1`,
    );
    for (const key of keys) {
      const { rows: examples } = await db.query<{ recordId: string; sealed: string }>(
        `select ${recordId} as "recordId", ${column} as sealed from ${table} where ${keyId} = $1 order by 1 limit ${EXAMPLES}`,
        [key.keyId],
      );
      used.push({ ...key, what, examples });
    }
  }
  return used;
}

const PAGE = 200;
// Bounds one call; housekeeping calls again at once while there is more.
const MAX_PAGES = 10;

export interface Rotated {
  /** Cipher texts that now need the first key only. */
  encrypted: number;
  /** Ids of records that could not be opened: they were encrypted with other keys of the same names. */
  failed: string[];
  /** Whether this call ended before it had read everything. */
  more: boolean;
}

/**
 * Re-encrypts with the first key values that were encrypted with another available key. Record versions do not change, because
 * the content stays the same. Rows locked by another transaction are left to the next call.
 */
export async function reencrypt(pool: Pool, box: SecretBox): Promise<Rotated> {
  const rotated: Rotated = { encrypted: 0, failed: [], more: false };
  if (box.olderKeyIds.length === 0) return rotated;
  for (const column of SEALED_COLUMNS) {
    let after: string | null = '';
    for (let page = 0; after !== null && page < MAX_PAGES; page += 1) {
      after = await rotatePage(pool, box, column, after, rotated);
    }
    rotated.more ||= after !== null;
  }
  return rotated;
}

/** @returns the record id after which to continue; null at the end */
async function rotatePage(
  pool: Pool,
  box: SecretBox,
  { table, column, recordId }: SealedColumn,
  after: string,
  rotated: Rotated,
): Promise<string | null> {
  return inTransaction(pool, async (db) => {
    const { rows } = await db.query<{ recordId: string; sealed: string }>(
      `select ${recordId} as "recordId", ${column} as sealed from ${table}
       where split_part(${column}, '.', 2) = any($1) and (${recordId}) collate "C" > $2
       order by (${recordId}) collate "C" limit ${PAGE} for update skip locked`,
      [box.olderKeyIds, after],
    );
    const renewed: { recordId: string; sealed: string }[] = [];
    for (const row of rows) {
      try {
        const sealed = box.encrypt(box.decrypt(row.sealed, row.recordId), row.recordId);
        renewed.push({ recordId: row.recordId, sealed });
      } catch {
        rotated.failed.push(row.recordId);
      }
    }
    // One statement a page: the caches of ingest reload once, not once per record.
    const { rowCount } = await db.query(
      `update ${table} set ${column} = renewed.sealed from unnest($1::text[], $2::text[]) as renewed (record_id, sealed)
       where ${recordId} = renewed.record_id`,
      [renewed.map((row) => row.recordId), renewed.map((row) => row.sealed)],
    );
    rotated.encrypted += rowCount ?? 0;
    return rows.length === PAGE ? (rows.at(-1)?.recordId ?? null) : null;
  });
}

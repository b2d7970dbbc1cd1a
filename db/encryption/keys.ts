// Loads the encryption keys: from HOOKYARD_ENCRYPTION_KEYS, or from a generated owner-only file on a single machine.
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Settings } from '../../core/config/config.ts';
import { ConfigError } from '../../core/config/secret-files.ts';
import { DecryptionError, type EncryptionKey, type SecretBox } from './secret-box.ts';
import { type Queryable, inTransaction, type Pool } from '../connections/pool.ts';
import { raw, sql } from '../connections/statements.ts';

const KEY_BYTES = 32;
const KEY_PAIR = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=?)$/;

/**
 * Loads the keys, the one that encrypts first; generates the file (mode 0600) on the first start of one machine.
 * @throws ConfigError when a pair is not `id:base64` of 32 bytes, or two have the same id
 */
export function loadEncryptionKeys(settings: Settings): EncryptionKey[] {
  if (settings.HOOKYARD_ENCRYPTION_KEYS) {
    return parseKeys(settings.HOOKYARD_ENCRYPTION_KEYS, 'HOOKYARD_ENCRYPTION_KEYS');
  }
  const file = join(settings.HOOKYARD_DATA_DIR, 'keys', 'encryption-keys');
  return parseKeys(readOrGenerate(file), file);
}

function parseKeys(text: string, from: string): EncryptionKey[] {
  const keys = text
    .trim()
    .split(',')
    .map((pair) => {
      const match = KEY_PAIR.exec(pair.trim());
      const key = Buffer.from(match?.[2] ?? '', 'base64');
      if (!match?.[1] || key.length !== KEY_BYTES) {
        throw new ConfigError([
          `${from} must contain comma-separated id:base64 pairs, each with a 32-byte key; generate one with: echo "k1:$(openssl rand -base64 32)"`,
        ]);
      }
      return { id: match[1], key };
    });
  const twice = keys.find(({ id }, index) => keys.findIndex((other) => other.id === id) !== index);
  if (twice) throw new ConfigError([`${from} has two keys with the ID "${twice.id}"; give the new key a different ID`]);
  return keys;
}

function readOrGenerate(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `local:${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flush: true });
  // link() fails when the file exists: of two processes starting at once, one wins and both read the same key.
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    unlinkSync(draft);
  }
  return readFileSync(file, 'utf8');
}

/**
 * Refuses to start when the keys cannot decrypt the data: tries one record of every key in use.
 * @throws ConfigError naming the key that is missing or wrong, and what needs it
 */
export async function checkKeysOpenData(db: Queryable, box: SecretBox): Promise<void> {
  const needed = new Map<string, KeyUse[]>();
  const reasons = new Map<string, string>();
  for (const use of await keyUse(db, true)) {
    needed.set(use.keyId, [...(needed.get(use.keyId) ?? []), use]);
    try {
      const [example] = use.examples;
      if (example) box.decrypt(example.sealed, example.recordId);
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      reasons.set(use.keyId, error.message);
    }
  }
  if (reasons.size === 0) return;
  throw new ConfigError(
    [...reasons].map(
      ([keyId, reason]) =>
        `HOOKYARD_ENCRYPTION_KEYS: ${reason}; affected credentials: ${recordsOf(needed.get(keyId) ?? [])}; set the key that encrypted them (or restore the keys folder in the data folder)`,
    ),
  );
}

function recordsOf(uses: KeyUse[]): string {
  const texts = uses.map(({ what, count, examples }) => {
    const others = count - examples.length;
    const ids = examples.map(({ recordId }) => recordId).join(', ');
    return `${count} in ${what}s (${ids}${others > 0 ? ` and ${others} more` : ''})`;
  });
  return texts.join(', ');
}

// Rotation: finds the keys in use, and re-encrypts values with the first one.

interface SealedColumn {
  what: string;
  table: string;
  column: string;
  recordId: string;
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
  { what: 'handshake', table: 'sources', column: 'last_handshake_shown', recordId: 'id', vital: false },
  { what: 'destination', table: 'destinations', column: 'auth_config', recordId: 'id', vital: true },
  { what: 'destination', table: 'destinations', column: 'signing_secret', recordId: 'id', vital: true },
  { what: 'destination', table: 'destinations', column: 'previous_signing_secret', recordId: 'id', vital: true },
  { what: 'destination', table: 'destinations', column: 'config', recordId: 'id', vital: true },
  { what: 'alert channel', table: 'alert_channels', column: 'config', recordId: 'id', vital: true },
  { what: 'alert channel', table: 'alert_channels', column: 'previous_secret', recordId: 'id', vital: true },
  { what: 'answer', table: 'idempotent_requests', column: 'answer', recordId: IDEMPOTENT_ID, vital: false },
];

export interface KeyUse {
  keyId: string;
  what: string;
  count: number;
  examples: { recordId: string; sealed: string }[];
}

const EXAMPLES = 3;

/**
 * Which keys are in use, read from all cipher texts.
 * @param vitalOnly skips columns that the service does not need to start
 */
export async function keyUse(db: Queryable, vitalOnly: boolean): Promise<KeyUse[]> {
  const used: KeyUse[] = [];
  for (const { what, table, column, recordId, vital } of SEALED_COLUMNS) {
    if (vitalOnly && !vital) continue;
    const keyId = `split_part(${column}, '.', 2)`;
    const keys = await sql(db).rows<{ keyId: string; count: number }>`
      select ${raw(keyId)} as key_id, count(*)::int as count from ${raw(table)}
      where ${raw(column)} is not null group by 1 order by 1`;
    for (const key of keys) {
      const examples = await sql(db).rows<{ recordId: string; sealed: string }>`
        select ${raw(recordId)} as record_id, ${raw(column)} as sealed from ${raw(table)}
        where ${raw(keyId)} = ${key.keyId} order by 1
        limit ${raw(EXAMPLES)}`;
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
 * Re-encrypts with the first key values that were encrypted with another available key. Record versions do not change,
 * because the content stays the same. Rows locked by another transaction are left to the next call.
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
    const rows = await sql(db).rows<{ recordId: string; sealed: string }>`
      select ${raw(recordId)} as record_id, ${raw(column)} as sealed from ${raw(table)}
      where split_part(${raw(column)}, '.', 2) = any(${box.olderKeyIds}::text[])
        and (${raw(recordId)}) collate "C" > ${after}
      order by (${raw(recordId)}) collate "C" limit ${raw(PAGE)} for update skip locked`;
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
    const rowCount = await sql(db).run`
      update ${raw(table)} set ${raw(column)} = renewed.sealed
      from unnest(${renewed.map((row) => row.recordId)}::text[], ${renewed.map((row) => row.sealed)}::text[])
        as renewed (record_id, sealed)
      where ${raw(recordId)} = renewed.record_id`;
    rotated.encrypted += rowCount ?? 0;
    return rows.length === PAGE ? (rows.at(-1)?.recordId ?? null) : null;
  });
}

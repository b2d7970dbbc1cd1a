// Where the encryption keys come from: HOOKYARD_ENCRYPTION_KEYS, or a generated owner-only file on one machine.
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ConfigError, type Settings } from '../core/config.ts';
import { DecryptionError, type EncryptionKey, SecretBox } from './encryption.ts';
import type { Queryable } from './pool.ts';

const KEY_BYTES = 32;
const KEY_PAIR = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=?)$/;

/** The file that keeps the generated keys when HOOKYARD_ENCRYPTION_KEYS is not set. */
export function encryptionKeyFile(settings: Settings): string {
  return join(settings.HOOKYARD_DATA_DIR, 'keys', 'encryption-keys');
}

/**
 * Loads the keys; generates the file (mode 0600) on the first start of one machine.
 * @throws ConfigError when a pair is not `id:base64` of 32 bytes
 */
export function loadSecretBox(settings: Settings): SecretBox {
  if (settings.HOOKYARD_ENCRYPTION_KEYS) {
    return new SecretBox(parseKeys(settings.HOOKYARD_ENCRYPTION_KEYS, 'HOOKYARD_ENCRYPTION_KEYS'));
  }
  const file = encryptionKeyFile(settings);
  return new SecretBox(parseKeys(readOrGenerate(file), file));
}

function parseKeys(text: string, from: string): EncryptionKey[] {
  return text
    .trim()
    .split(',')
    .map((pair) => {
      const match = KEY_PAIR.exec(pair.trim());
      const key = Buffer.from(match?.[2] ?? '', 'base64');
      if (!match?.[1] || key.length !== KEY_BYTES) {
        throw new ConfigError([
          `${from} must hold comma-separated id:base64 pairs with 32 bytes each; make one with: echo "k1:$(openssl rand -base64 32)"`,
        ]);
      }
      return { id: match[1], key };
    });
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
 * Refuses to start on data that the keys cannot open: tries one record of every key id in use.
 * @throws ConfigError naming the key id that is missing or wrong
 */
export async function checkKeysOpenData(db: Queryable, box: SecretBox): Promise<void> {
  const { rows } = await db.query<{ id: string; sealed: string }>(`
    select distinct on (split_part(sealed, '.', 2)) id, sealed from (
      select id, verification_secret as sealed from sources
      union all select id, auth_config from destinations
      union all select id, signing_secret from destinations
    ) secrets where sealed is not null`);
  for (const row of rows) {
    try {
      box.decrypt(row.sealed, row.id);
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      throw new ConfigError([
        `HOOKYARD_ENCRYPTION_KEYS: ${error.message}; stored credentials were encrypted with it. Set the key that was used before (or restore the keys folder of HOOKYARD_DATA_DIR)`,
      ]);
    }
  }
}

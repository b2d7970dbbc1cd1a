// Loads the encryption keys: from HOOKYARD_ENCRYPTION_KEYS, or from a generated owner-only file on a single machine.
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Settings } from '../../core/config/config.ts';
import { ConfigError } from '../../core/config/config-error.ts';
import { DecryptionError, type EncryptionKey, SecretBox } from './secret-box.ts';
import { type KeyUse, keyUse } from './rotation.ts';
import type { Queryable } from '../connections/pool.ts';

const KEY_BYTES = 32;
const KEY_PAIR = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=?)$/;

/** The file that keeps the generated keys when HOOKYARD_ENCRYPTION_KEYS is not set. */
function encryptionKeyFile(settings: Settings): string {
  return join(settings.HOOKYARD_DATA_DIR, 'keys', 'encryption-keys');
}

/** The keys that seal stored secrets. @throws ConfigError as `loadEncryptionKeys` does */
export function loadSecretBox(settings: Settings): SecretBox {
  return new SecretBox(loadEncryptionKeys(settings));
}

/**
 * Loads the keys, the one that encrypts first; generates the file (mode 0600) on the first start of one machine.
 * @throws ConfigError when a pair is not `id:base64` of 32 bytes, or two have the same id
 */
export function loadEncryptionKeys(settings: Settings): EncryptionKey[] {
  if (settings.HOOKYARD_ENCRYPTION_KEYS) {
    return parseKeys(settings.HOOKYARD_ENCRYPTION_KEYS, 'HOOKYARD_ENCRYPTION_KEYS');
  }
  const file = encryptionKeyFile(settings);
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
          `${from} must hold comma-separated id:base64 pairs with 32 bytes each; make one with: echo "k1:$(openssl rand -base64 32)"`,
        ]);
      }
      return { id: match[1], key };
    });
  const twice = keys.find(({ id }, index) => keys.findIndex((other) => other.id === id) !== index);
  if (twice) throw new ConfigError([`${from} has two keys with the id "${twice.id}"; give the new one another id`]);
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
        `HOOKYARD_ENCRYPTION_KEYS: ${reason}; stored credentials were encrypted with it: ${recordsOf(needed.get(keyId) ?? [])}. Set the key that was used before (or restore the keys folder of HOOKYARD_DATA_DIR)`,
    ),
  );
}

function recordsOf(uses: KeyUse[]): string {
  const texts = uses.map(({ what, count, examples }) => {
    const others = count - examples.length;
    const ids = examples.map(({ recordId }) => recordId).join(', ');
    return `${count} of ${what}s (${ids}${others > 0 ? ` and ${others} more` : ''})`;
  });
  return texts.join(', ');
}

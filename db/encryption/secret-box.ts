// Credentials at rest: AES-256-GCM (NIST SP 800-38D) with a key id in front and the record's id as associated data,
// so that a cipher text copied to another record does not open.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { z } from 'zod';

const VERSION = 'v1';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** One 256-bit key with the name that cipher texts carry. */
export interface EncryptionKey {
  id: string;
  key: Buffer;
}

/**
 * Thrown when a cipher text cannot be decrypted with the available keys; the message names the missing or wrong key id.
 */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
}

export class SecretBox {
  readonly #keys: Map<string, Buffer>;
  readonly #current: EncryptionKey;
  /** Of the keys that only decrypt. */
  readonly olderKeyIds: readonly string[];

  /** @param keys the first one encrypts, all of them decrypt (rotation) */
  constructor(keys: EncryptionKey[]) {
    const [current] = keys;
    if (!current) throw new Error('at least one encryption key is required');
    this.#current = current;
    this.#keys = new Map(keys.map(({ id, key }) => [id, key]));
    this.olderKeyIds = keys.slice(1).map(({ id }) => id);
  }

  /** @returns `v1.<key id>.<base64url of iv, cipher text and tag>` */
  encrypt(plainText: string, recordId: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#current.key, iv).setAAD(Buffer.from(recordId));
    const sealed = Buffer.concat([iv, cipher.update(plainText, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${VERSION}.${this.#current.id}.${sealed.toString('base64url')}`;
  }

  /** @throws DecryptionError when the key is missing or wrong, or the text belongs to another record */
  decrypt(cipherText: string, recordId: string): string {
    const [version, keyId = '', data = ''] = cipherText.split('.');
    const key = this.#keys.get(keyId);
    if (version !== VERSION || !key) throw new DecryptionError(`no encryption key with ID "${keyId}"`);
    const sealed = Buffer.from(data, 'base64url');
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES))
        .setAAD(Buffer.from(recordId))
        .setAuthTag(sealed.subarray(-TAG_BYTES));
      return decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      throw new DecryptionError(
        `encryption key "${keyId}" cannot decrypt this data, which is damaged or was encrypted with a different key that has the same ID`,
      );
    }
  }
}

// Secrets in links of mails are sealed, so that nothing is stored and nobody can make one. Each is bound to its use: no
// other sealed text opens as one.
const TO_CONFIRM = 'notification-recipient';
const TO_STOP = 'notification-stop';

const recipient = z.object({
  organizationId: z.string(),
  organization: z.string(),
  address: z.string(),
});
const confirmation = recipient.extend({
  /** ms since 1970. */
  expiresAt: z.number(),
});
export type Confirmation = z.output<typeof confirmation>;
/** A link that stops mails works for ever. */
export type Stop = z.output<typeof recipient>;

/** Letters, digits, dots, hyphens and underscores. */
export const sealConfirmation = (box: SecretBox, given: Confirmation): string =>
  box.encrypt(JSON.stringify(given), TO_CONFIRM);

export const sealStop = (box: SecretBox, given: Stop): string => box.encrypt(JSON.stringify(given), TO_STOP);

/** Null for a text that this service has not made. */
export const openConfirmation = (box: SecretBox, token: string): Confirmation | null =>
  open(box, token, TO_CONFIRM, confirmation);

/** Null for a text that this service has not made. */
export const openStop = (box: SecretBox, token: string): Stop | null => open(box, token, TO_STOP, recipient);

function open<Schema extends z.ZodType>(
  box: SecretBox,
  token: string,
  purpose: string,
  schema: Schema,
): z.output<Schema> | null {
  try {
    return schema.parse(JSON.parse(box.decrypt(token, purpose)));
  } catch (error) {
    if (error instanceof DecryptionError) return null;
    throw error;
  }
}

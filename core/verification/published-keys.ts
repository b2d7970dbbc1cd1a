// Keys that a provider publishes at an address of its own. A scheme says which document it needs; how that is fetched,
// kept and limited is the matter of outbound/provider-keys.ts.
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { jsonOf, memberOf } from './scheme.ts';

export interface PublishedKey {
  key: KeyObject;
  /** Of a certificate, ms since 1970. */
  valid?: { fromMs: number; toMs: number };
}

export type KeySet = ReadonlyMap<string, PublishedKey>;

export interface KeyDocument {
  url: string;
  /** Posted as JSON; absent: the document is got. It may hold secrets. */
  post?: object;
  /** Whether a part of the address, or of what is posted, comes with the webhook: then strangers choose it. */
  isNamedByWebhook: boolean;
  /** Null: it is no such document. */
  read: (text: string) => KeySet | null;
  /** Whether an answer other than 2xx says that there is no document of this name. */
  isNone: (status: number, text: string) => boolean;
}

export interface PublishedKeys {
  /**
   * @returns null when the provider has no such key
   * @throws KeysAwayError when that cannot be told now
   */
  key(document: KeyDocument, id: string): Promise<PublishedKey | null>;
}

/**
 * The provider cannot be asked for a key now: nothing is accepted, and the sender has to come again. Its message is for
 * the sender.
 */
export class KeysAwayError extends Error {
  override readonly name = 'KeysAwayError';
}

/** For requests that are no webhooks: nothing is fetched for them, and none is verified by a published key. */
export const NO_KEYS: PublishedKeys = { key: () => Promise.resolve(null) };

const MAX_KEYS = 100;

/** A JSON Web Key Set (RFC 7517, section 5). Keys that cannot be used are left out. */
export function readKeySet(text: string): KeySet | null {
  const keys = memberOf(jsonOf(text), 'keys');
  if (!Array.isArray(keys)) return null;
  return new Map((keys as unknown[]).slice(0, MAX_KEYS).flatMap((jwk) => readKey(jwk) ?? []));
}

/** One JSON Web Key with its id; null when it is none, or of a kind that no provider here signs with. */
function readKey(jwk: unknown): [[string, PublishedKey]] | null {
  const id = memberOf(jwk, 'kid');
  if (typeof id !== 'string') return null;
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    return isRsa(key) || isP256(key) ? [[id, { key }]] : null;
  } catch {
    return null;
  }
}

// Work with an RSA key grows with the square of its length and with that of its exponent, and with a private one even
// faster: a signature with 16,384 bits takes seconds in which nothing else happens.
export const MAX_RSA_BITS = 4096;
// 65537 is what everybody has; a few have 3 or 17.
const MAX_EXPONENT = 2n ** 17n;

/** Whether it is an RSA key, and one of at most as many bits as are in use. */
export function isShortRsa({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  if (asymmetricKeyType !== 'rsa') return false;
  const { modulusLength = Number.POSITIVE_INFINITY, publicExponent = MAX_EXPONENT } = asymmetricKeyDetails ?? {};
  return modulusLength <= MAX_RSA_BITS && publicExponent < MAX_EXPONENT;
}

// RFC 7518, section 3.3: 2048 bits or more.
const MIN_RSA_BITS = 2048;
export const isRsa = (key: KeyObject): boolean =>
  isShortRsa(key) && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS;
export const isP256 = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean =>
  asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1';

// Plaid, "Verify webhooks": the key of a token is asked for by its id, with the credentials of the client.
// https://plaid.com/docs/api/webhooks/webhook-verification/
const PLAID_FORM = /^(sandbox|production):([^:]{1,256}):(.{1,1024})$/;

/** What is wrong with what the owner enters; null when nothing is. */
export const plaidProblem = (secret: string): string | null =>
  PLAID_FORM.test(secret)
    ? null
    : 'must be <environment>:<client_id>:<secret>, where the environment is sandbox or production';

export function plaidKey(secret: string, keyId: string): KeyDocument {
  const [, environment = 'production', clientId = '', clientSecret = ''] = PLAID_FORM.exec(secret) ?? [];
  return {
    url: `https://${environment}.plaid.com/webhook_verification_key/get`,
    post: { client_id: clientId, secret: clientSecret, key_id: keyId },
    isNamedByWebhook: true,
    read: readPlaidKey,
    // Wrong credentials of the client are 400, too.
    isNone: (status, text) =>
      status === 400 && memberOf(jsonOf(text), 'error_code') === 'INVALID_WEBHOOK_VERIFICATION_KEY_ID',
  };
}

function readPlaidKey(text: string): KeySet | null {
  const jwk = memberOf(jsonOf(text), 'key');
  const key = readKey(jwk);
  if (key === null) return null;
  const isExpired = typeof memberOf(jwk, 'expired_at') === 'number';
  return new Map(isExpired ? [] : key);
}

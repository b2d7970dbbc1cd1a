// Keys that a provider publishes at an address of its own. A scheme says which document it needs; how that is fetched, kept and limited
// is the matter of outbound/provider-keys/.
import { createPublicKey, type JsonWebKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isShortRsa } from '../rsa-keys.ts';
import { jsonOf, memberOf } from '../request.ts';

export interface PublishedKey {
  key: KeyObject;
  /** Of a certificate, ms since 1970. */
  valid?: { fromMs: number; toMs: number };
}

/** By their ids. */
export type KeySet = ReadonlyMap<string, PublishedKey>;

export interface KeyDocument {
  /** An https address on a host of the provider. */
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

/** The provider cannot be asked for a key now: nothing is accepted, and the sender has to come again. Its message is for the sender. */
export class KeysAwayError extends Error {
  override readonly name = 'KeysAwayError';
}

/** For requests that are no webhooks: nothing is fetched for them, and none is verified by a published key. */
export const NO_KEYS: PublishedKeys = { key: () => Promise.resolve(null) };

const MAX_KEYS = 100;

/** A JSON Web Key Set (RFC 7517, section 5). Keys that cannot be used are left out. */
export function readKeySet(text: string): KeySet | null {
  const keys = memberOf(jsonOf(Buffer.from(text)), 'keys');
  if (!Array.isArray(keys)) return null;
  return new Map((keys as unknown[]).slice(0, MAX_KEYS).flatMap((jwk) => readKey(jwk) ?? []));
}

/** One JSON Web Key with its id; null when it is none, or of a kind that no provider here signs with. */
export function readKey(jwk: unknown): [[string, PublishedKey]] | null {
  const id = memberOf(jwk, 'kid');
  if (typeof id !== 'string') return null;
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    return isRsa(key) || isP256(key) ? [[id, { key }]] : null;
  } catch {
    return null;
  }
}

// RFC 7518, section 3.3: 2048 bits or more.
const MIN_RSA_BITS = 2048;
export const isRsa = (key: KeyObject): boolean =>
  isShortRsa(key) && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS;
export const isP256 = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean =>
  asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1';

const CERTIFICATE = 'certificate';
// Stores of files answer 403 for a file that is not there.
const NO_FILE = [403, 404, 410];

/**
 * The key of a certificate that the provider serves at an address.
 * @returns null when there is none, or it is not valid at this time
 * @throws KeysAwayError
 */
export async function certificateKey(keys: PublishedKeys, url: string, nowMs: number): Promise<KeyObject | null> {
  const isNone = (status: number) => NO_FILE.includes(status);
  const found = await keys.key({ url, isNamedByWebhook: true, read: readCertificate, isNone }, CERTIFICATE);
  if (found?.valid === undefined) return null;
  const { fromMs, toMs } = found.valid;
  return fromMs <= nowMs && nowMs <= toMs ? found.key : null;
}

/** The first certificate of a PEM file. */
function readCertificate(text: string): KeySet | null {
  try {
    const { publicKey: key, validFromDate, validToDate } = new X509Certificate(text);
    const valid = { fromMs: validFromDate.getTime(), toMs: validToDate.getTime() };
    return isRsa(key) ? new Map([[CERTIFICATE, { key, valid }]]) : null;
  } catch {
    return null;
  }
}

// Keys that a provider publishes at an address of its own. A scheme says what it needs; how it is fetched, kept and limited is the matter
// of outbound/published-keys.ts.
import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
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
  /** Whether a part of the address or of the body stands in the webhook, so that strangers choose it. */
  isNamedByWebhook: boolean;
  /** Null: it is no such document. */
  read: (text: string) => KeySet | null;
}

export interface PublishedKeys {
  /**
   * @returns null when the provider has no such key
   * @throws KeysAwayError when that cannot be told now
   */
  key(document: KeyDocument, id: string): Promise<PublishedKey | null>;
}

/** The provider cannot be asked for a key now: nothing is accepted, and the sender has to come again. */
export class KeysAwayError extends Error {
  override readonly name = 'KeysAwayError';
}

const MAX_KEYS = 100;

/** JSON Web Key Set (RFC 7517). Keys of a kind that Node does not know are left out. */
export function readKeySet(text: string): KeySet | null {
  const keys = memberOf(jsonOf(Buffer.from(text)), 'keys');
  if (!Array.isArray(keys)) return null;
  return new Map((keys as unknown[]).slice(0, MAX_KEYS).flatMap((jwk) => readKey(jwk) ?? []));
}

/** One JSON Web Key with its id; null when it is none. */
export function readKey(jwk: unknown): [[string, PublishedKey]] | null {
  const id = memberOf(jwk, 'kid');
  if (typeof id !== 'string') return null;
  try {
    return [[id, { key: createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }) }]];
  } catch {
    return null;
  }
}

type JsonWebKey = Extract<Parameters<typeof createPublicKey>[0], { format: 'jwk' }>['key'];

/** Of a document that is one certificate. */
export const CERTIFICATE = 'certificate';

export function readCertificate(text: string): KeySet | null {
  try {
    const { publicKey: key, validFromDate, validToDate } = new X509Certificate(text);
    const valid = { fromMs: validFromDate.getTime(), toMs: validToDate.getTime() };
    return new Map([[CERTIFICATE, { key, valid }]]);
  } catch {
    return null;
  }
}

export const isValidAt = ({ valid }: PublishedKey, nowMs: number): boolean =>
  valid === undefined || (valid.fromMs <= nowMs && nowMs <= valid.toMs);

// Senders that sign with a private key; the source has the public one. A body is hashed again for each signature that
// is tried.
import { createHash, createPublicKey, type KeyObject, sign as signWith, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { isP256, isRsa } from './published-keys.ts';
import {
  refuse,
  type SchemeKind,
  type SignatureEncoding,
  type Signed,
  signatureBytes,
  type Unsigned,
} from './scheme.ts';
import { readTemplate, type SignatureTemplate, templateHeaders } from './header-signature.ts';

/** ECDSA: P-256 and SHA-256, as DER or its two numbers alone. RSA: PKCS #1 v1.5 and SHA-256. */
export const KEY_ALGORITHMS = ['ecdsa', 'ed25519', 'rsa'] as const;
export type KeyAlgorithm = (typeof KEY_ALGORITHMS)[number];

export interface PublicKeyScheme extends SignatureTemplate {
  kind: 'public-key';
  algorithm: KeyAlgorithm;
}

export const publicKeyKind: SchemeKind<PublicKeyScheme> = {
  verify(scheme, { secret }, request) {
    const read = readTemplate(scheme, request);
    const key =
      publicKeyOf(scheme.algorithm, secret) ?? refuse("The source's key is not a valid public key for this sender");
    return verifyByKey({ ...scheme, key }, bytesOf(read.signed), read.signatures);
  },
  secretProblem: ({ algorithm }, secret) => (publicKeyOf(algorithm, secret) === null ? FORMS[algorithm] : null),
  secretHeaders: ({ header }) => [header, 'X-Hook-Secret'],
};

export function signByKey(scheme: PublicKeyScheme, key: KeyObject, unsigned: Unsigned): Signed {
  const sign = (signed: (string | Buffer)[]) => signWith(hashOf(scheme.algorithm), bytesOf(signed), key);
  return { headers: templateHeaders(scheme, unsigned, sign), body: unsigned.body, query: {} };
}

const bytesOf = (signed: (string | Buffer)[]): Buffer =>
  Buffer.concat(signed.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));

const FORMS: Readonly<Record<KeyAlgorithm, string>> = {
  ecdsa: 'must be a P-256 public key, as PEM or as SPKI in base64',
  ed25519: 'must be an Ed25519 public key, as PEM, 64 hex digits or 32 bytes in base64',
  rsa: 'must be an RSA public key of 2048 to 4096 bits, as PEM or as SPKI in base64',
};
const RAW_HEX = /^[0-9a-f]{64}$/i;
const RAW_BASE64 = /^[A-Za-z0-9+/]{43}=?$/;

/** Null: it is none for this algorithm. */
function publicKeyOf(algorithm: KeyAlgorithm, text: string): KeyObject | null {
  if (algorithm === 'ed25519' && RAW_HEX.test(text)) return ed25519Key(Buffer.from(text, 'hex'));
  if (algorithm === 'ed25519' && RAW_BASE64.test(text)) return ed25519Key(Buffer.from(text, 'base64'));
  const key = readPublicKey(text);
  if (key === null) return null;
  const isOfKind = { ecdsa: isP256, rsa: isRsa, ed25519: () => key.asymmetricKeyType === 'ed25519' }[algorithm];
  return isOfKind(key) ? key : null;
}

function readPublicKey(text: string): KeyObject | null {
  // Of a private key or a certificate this would make the public one, and the private one would be stored.
  if (/-----BEGIN (?!(?:RSA )?PUBLIC KEY-----)/.test(text)) return null;
  try {
    return text.includes('-----BEGIN')
      ? createPublicKey(text)
      : createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
  } catch {
    return null;
  }
}

// The key in DER: this header and its 32 bytes (RFC 8410, section 4).
const ED25519_DER = Buffer.from('302a300506032b6570032100', 'hex');

/** @param bytes of the raw public key */
export function ed25519Key(bytes: Buffer | null): KeyObject | null {
  if (bytes?.length !== 32) return null;
  return createPublicKey({ key: Buffer.concat([ED25519_DER, bytes]), format: 'der', type: 'spki' });
}

// Each takes a tenth of a millisecond; nobody rotates more keys at once.
const MAX_TRIED = 4;
// From here on hashing takes longer than the rest. It is done in a thread, and of a key and the one before each has its
// try.
const LARGE_BYTES = 256 * 1024;
const MAX_TRIED_OF_LARGE = 2;

/**
 * What stands for the right signature (SourceRouting's `mac`): the hash of what was signed.
 * @throws VerificationRefusal when none of them is right
 */
export async function verifyByKey(
  { algorithm, key, encoding }: { algorithm: KeyAlgorithm; key: KeyObject; encoding: SignatureEncoding },
  signed: Buffer,
  signatures: readonly string[],
): Promise<Buffer> {
  const isLarge = signed.length > LARGE_BYTES;
  const isSigned = isLarge ? isSignedInThread : isSignedHere;
  for (const text of signatures.slice(0, isLarge ? MAX_TRIED_OF_LARGE : MAX_TRIED)) {
    const bytes = signatureBytes(text, encoding);
    // Anyone who sees an ECDSA signature can write another that is right, too: what was signed tells a repeat.
    if (bytes !== null && (await isSigned(algorithm, signed, key, bytes)))
      return createHash('sha256').update(signed).digest();
  }
  return refuse("The signature does not match the webhook and the source's key", true);
}

type IsSigned = (
  algorithm: KeyAlgorithm,
  signed: Buffer,
  key: KeyObject,
  signature: Buffer,
) => boolean | Promise<boolean>;

// With a callback it is done in one of libuv's threads.
const verifyInThread = promisify(verify);

const isSignedHere: IsSigned = (algorithm, signed, key, signature) =>
  hasLength(algorithm, signature) && verify(hashOf(algorithm), signed, keyFor(key, signature), signature);

const isSignedInThread: IsSigned = async (algorithm, signed, key, signature) =>
  hasLength(algorithm, signature) && verifyInThread(hashOf(algorithm), signed, keyFor(key, signature), signature);

// The two numbers of P-256, 32 bytes each. In DER they have never so few bytes, or once in 2^50.
const PLAIN_BYTES = 64;

const hasLength = (algorithm: KeyAlgorithm, signature: Buffer): boolean =>
  algorithm !== 'ed25519' || signature.length === PLAIN_BYTES;
// Ed25519 hashes by itself.
const hashOf = (algorithm: KeyAlgorithm): string | null => (algorithm === 'ed25519' ? null : 'sha256');
// Other keys than those for ECDSA have no use for the encoding.
const keyFor = (key: KeyObject, signature: Buffer) => ({
  key,
  dsaEncoding: signature.length === PLAIN_BYTES ? ('ieee-p1363' as const) : ('der' as const),
});

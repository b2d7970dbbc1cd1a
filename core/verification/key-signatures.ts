// Signatures by a private key, verified with the public one: how many of those in a request are tried, and where. A body is hashed again
// for each.
import { createHash, type KeyObject, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { type SignatureEncoding, signatureBytes, type Verification } from '../signatures/scheme.ts';
import { refused } from './request.ts';

/** ECDSA: P-256 and SHA-256, as DER or its two numbers alone. RSA: PKCS #1 v1.5 and SHA-256. */
export const KEY_ALGORITHMS = ['ecdsa', 'ed25519', 'rsa'] as const;
export type KeyAlgorithm = (typeof KEY_ALGORITHMS)[number];

// Each takes a tenth of a millisecond; nobody rotates more keys at once.
const MAX_TRIED = 4;
// From here on hashing takes longer than the rest. It is done in a thread, and of a key and the one before each has its try.
const LARGE_BYTES = 256 * 1024;
const MAX_TRIED_OF_LARGE = 2;

/** Whether one of the signatures is right. What stands for it (SourceRouting's `mac`) is the hash of what was signed. */
export async function verifyByKey(
  { algorithm, key, encoding }: { algorithm: KeyAlgorithm; key: KeyObject; encoding: SignatureEncoding },
  signed: Buffer,
  signatures: readonly string[],
): Promise<Verification> {
  const isLarge = signed.length > LARGE_BYTES;
  const isSigned = isLarge ? isSignedInThread : isSignedHere;
  for (const text of signatures.slice(0, isLarge ? MAX_TRIED_OF_LARGE : MAX_TRIED)) {
    const bytes = signatureBytes(text, encoding);
    // Anyone who sees an ECDSA signature can write another that is right, too: what was signed tells a repeat.
    if (bytes !== null && (await isSigned(algorithm, signed, key, bytes)))
      return { valid: true, mac: createHash('sha256').update(signed).digest() };
  }
  return { ...refused('The signature does not match the body and the key of the source'), hashed: true };
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

// Providers that sign with a private key; the source has the public one. Signed is the time and the body.
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { Verification } from '../signatures/scheme.ts';
import { type Credentials, headerOf, type ProviderRequest, refused, timeProblem } from './request.ts';
import { ed25519Key, verifyEd25519 } from './standard-webhooks.ts';

export interface PublicKeyScheme {
  kind: 'public-key';
  /** ECDSA: P-256 and SHA-256, the key as SPKI in base64, the signature as DER in base64. Ed25519: key and signature in hex. */
  algorithm: 'ecdsa' | 'ed25519';
  signatureHeader: string;
  timestampHeader: string;
  toleranceSeconds: number;
}

export function publicKeyProblem({ algorithm }: PublicKeyScheme, secret: string): string | null {
  if (keyOf(algorithm, secret) !== null) return null;
  return algorithm === 'ecdsa' ? 'must be the public key in base64' : 'must be the public key: 64 hex digits';
}

export function verifyPublicKey(
  scheme: PublicKeyScheme,
  { secret }: Credentials,
  request: ProviderRequest,
): Verification {
  const signature = headerOf(request, scheme.signatureHeader);
  if (typeof signature !== 'string') return signature;
  const timestamp = headerOf(request, scheme.timestampHeader);
  if (typeof timestamp !== 'string') return timestamp;
  const problem = timeProblem(timestamp, { unit: 's', toleranceSeconds: scheme.toleranceSeconds }, request.nowMs);
  if (problem !== null) return problem;
  const key = keyOf(scheme.algorithm, secret);
  const signed = Buffer.concat([Buffer.from(timestamp), request.body]);
  if (scheme.algorithm === 'ed25519') return verifyEd25519(key, signed, [signature], 'hex');
  if (key === null) return refused('The key of the source is not a public key of this provider');
  if (/^[A-Za-z0-9+/]+={0,2}$/.test(signature) && verify('sha256', signed, key, Buffer.from(signature, 'base64')))
    // Whoever sees an ECDSA signature can write another that is right, too: what was signed tells a repeat.
    return { valid: true, mac: createHash('sha256').update(signed).digest() };
  return { ...refused('The signature does not match the body and the key of the source'), hashed: true };
}

function keyOf(algorithm: PublicKeyScheme['algorithm'], text: string): KeyObject | null {
  if (algorithm === 'ed25519') return /^[0-9a-f]{64}$/i.test(text) ? ed25519Key(Buffer.from(text, 'hex')) : null;
  try {
    const key = createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : null;
  } catch {
    return null;
  }
}

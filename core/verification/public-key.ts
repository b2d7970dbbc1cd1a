// Senders that sign with a private key; the source has the public one.
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Verification } from '../signatures/scheme.ts';
import { type KeyAlgorithm, verifyByKey } from './key-signatures.ts';
import { isP256, isRsa } from './published/keys.ts';
import { type Credentials, type ProviderRequest, refused } from './request.ts';
import { ed25519Key } from './standard-webhooks.ts';
import { readTemplate, type SignatureTemplate } from './template.ts';

/** Of providers: signed is the time and the body. ECDSA signatures are in base64, those of Ed25519 in hex. */
export interface PublicKeyScheme {
  kind: 'public-key';
  algorithm: 'ecdsa' | 'ed25519';
  signatureHeader: string;
  timestampHeader: string;
  toleranceSeconds: number;
}

export interface KeySignatureScheme extends SignatureTemplate {
  kind: 'key-signature';
  algorithm: KeyAlgorithm;
}

export const signatureOf = (scheme: PublicKeyScheme): KeySignatureScheme => ({
  kind: 'key-signature',
  algorithm: scheme.algorithm,
  encoding: scheme.algorithm === 'ecdsa' ? 'base64' : 'hex',
  header: scheme.signatureHeader,
  timestamp: { header: scheme.timestampHeader, unit: 's', toleranceSeconds: scheme.toleranceSeconds },
  signed: ['timestamp', 'body'],
});

const FORMS: Readonly<Record<KeyAlgorithm, string>> = {
  ecdsa: 'must be the public key: P-256, as PEM, or as SPKI in base64',
  ed25519: 'must be the public key: 64 hex digits, 32 bytes in base64, or PEM',
  rsa: 'must be the public key: RSA with 2048 to 4096 bits, as PEM, or as SPKI in base64',
};

export const publicKeyProblem = ({ algorithm }: { algorithm: KeyAlgorithm }, secret: string): string | null =>
  keyOf(algorithm, secret) === null ? FORMS[algorithm] : null;

export function verifyPublicKey(
  scheme: PublicKeyScheme,
  credentials: Credentials,
  request: ProviderRequest,
): Promise<Verification> {
  return verifyKeySignature(signatureOf(scheme), credentials, request);
}

export async function verifyKeySignature(
  scheme: KeySignatureScheme,
  { secret }: Credentials,
  request: ProviderRequest,
): Promise<Verification> {
  const read = readTemplate(scheme, request);
  if ('valid' in read) return read;
  const key = keyOf(scheme.algorithm, secret);
  if (key === null) return refused('The key of the source is not a public key of this sender');
  const signed = Buffer.concat(read.signed.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  return verifyByKey({ ...scheme, key }, signed, read.signatures);
}

const RAW_HEX = /^[0-9a-f]{64}$/i;
const RAW_BASE64 = /^[A-Za-z0-9+/]{43}=?$/;

/** Null: it is none for this algorithm. */
function keyOf(algorithm: KeyAlgorithm, text: string): KeyObject | null {
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

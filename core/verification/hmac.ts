// Senders that sign with an HMAC.
import { compared, hmac, type SignatureAlgorithm, type Verification } from '../signatures/scheme.ts';
import { type Credentials, type ProviderRequest, withoutBody } from './request.ts';
import { readTemplate, type SignatureTemplate } from './template.ts';

export interface HmacScheme extends SignatureTemplate {
  kind: 'hmac';
  algorithm: SignatureAlgorithm;
  /** How the secret that the owner enters holds the key; by default its text is the key. */
  key?: 'text' | 'hex' | 'base64';
}

export function verifyHmacScheme(scheme: HmacScheme, { secret }: Credentials, request: ProviderRequest): Verification {
  const read = readTemplate(scheme, request);
  if ('valid' in read) return read;
  const outcome = compared(read.signatures, scheme.encoding, macOf(scheme, secret, read.signed));
  return scheme.signed.includes('body') ? outcome : withoutBody(outcome);
}

/** The right signature of what is signed. */
export function macOf(scheme: HmacScheme, secret: string, signed: readonly (string | Buffer)[]): Buffer {
  return hmac(scheme.algorithm, keyOf(scheme, secret), ...signed);
}

function keyOf({ key = 'text' }: HmacScheme, secret: string): string | Buffer {
  return key === 'text' ? secret : Buffer.from(secret, key);
}

/** What is wrong with the secret; null when nothing is. */
export function hmacKeyProblem({ key = 'text' }: HmacScheme, secret: string): string | null {
  // One character holds no byte: with an empty key anyone could sign.
  if (key === 'base64') return /^[A-Za-z0-9+/]{2,}={0,2}$/.test(secret) ? null : 'must be base64';
  return key === 'text' || /^(?:[0-9a-f]{2})+$/i.test(secret) ? null : 'must be hex digits, two for each byte';
}

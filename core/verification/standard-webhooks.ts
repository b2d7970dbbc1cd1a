// Standard Webhooks (specification 1.0): `v1` is an HMAC-SHA256 with a shared key, `v1a` an Ed25519 signature that is verified with
// the sender's public key. Svix sends the same under headers of its own name.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { compared, hmac, signedHeader, type Verification } from '../signatures/scheme.ts';
import { verifyByKey } from './key-signatures.ts';
import { type Credentials, headerOf, type ProviderRequest, refused, timeProblem } from './request.ts';

export interface StandardScheme {
  kind: 'standard';
  /** Of the names of the three headers. */
  headerPrefix: 'webhook-' | 'svix-';
}

const TOLERANCE_SECONDS = 300;
const SHARED = 'whsec_';
const PUBLIC = 'whpk_';
// Of at least one byte: with an empty key anyone could sign.
const BASE64 = /^[A-Za-z0-9+/]{2,}={0,2}$/;
// The key in DER: this header and its 32 bytes (RFC 8410, section 4).
const ED25519_DER = Buffer.from('302a300506032b6570032100', 'hex');

/** What is wrong with the key that the owner enters; null when it is one. */
export function standardKeyProblem(secret: string): string | null {
  if (secret.startsWith(PUBLIC))
    return ed25519Key(bytesAfter(PUBLIC, secret)) ? null : `must hold 32 bytes in base64 after ${PUBLIC}`;
  return bytesAfter(SHARED, secret) ? null : `must be ${SHARED} followed by base64, or ${PUBLIC} and a public key`;
}

export async function verifyStandard(
  scheme: StandardScheme,
  { secret }: Credentials,
  request: ProviderRequest,
): Promise<Verification> {
  const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) =>
    headerOf(request, scheme.headerPrefix + name),
  ) as [ReturnType<typeof headerOf>, ReturnType<typeof headerOf>, ReturnType<typeof headerOf>];
  if (typeof id !== 'string') return id;
  if (typeof timestamp !== 'string') return timestamp;
  if (typeof signature !== 'string') return signature;
  const problem = timeProblem(timestamp, { unit: 's', toleranceSeconds: TOLERANCE_SECONDS }, request.nowMs);
  if (problem !== null) return problem;
  const signed = Buffer.concat([signedHeader(request, `${scheme.headerPrefix}id`), Buffer.from(`.${timestamp}.`)]);
  const ofVersion = (version: string) =>
    signature
      .split(' ')
      .filter((item) => item.startsWith(version))
      .map((item) => item.slice(version.length));
  if (!secret.startsWith(PUBLIC)) {
    const key = bytesAfter(SHARED, secret) ?? secret;
    return compared(ofVersion('v1,'), 'base64', hmac('sha256', key, signed, request.body));
  }
  const key = ed25519Key(bytesAfter(PUBLIC, secret));
  if (key === null) return refused('The key of the source is not an Ed25519 public key');
  const bytes = Buffer.concat([signed, request.body]);
  return verifyByKey({ algorithm: 'ed25519', key, encoding: 'base64' }, bytes, ofVersion('v1a,'));
}

/** @param bytes of the raw public key */
export function ed25519Key(bytes: Buffer | null): KeyObject | null {
  if (bytes?.length !== 32) return null;
  return createPublicKey({ key: Buffer.concat([ED25519_DER, bytes]), format: 'der', type: 'spki' });
}

function bytesAfter(prefix: string, text: string): Buffer | null {
  const rest = text.slice(prefix.length);
  return text.startsWith(prefix) && BASE64.test(rest) ? Buffer.from(rest, 'base64') : null;
}

// What every signature scheme is made of, and the steps they share.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { type HeaderBytes, valueText } from '../http/header-text.ts';

/** A received request: its headers, the exact body bytes, and the time of its arrival in ms since 1970. */
export type SignedRequest = { headers: Readonly<HeaderBytes>; body: Buffer; nowMs: number };

/**
 * Whether a request is genuine. `mac` is the right signature in its bytes, however the sender wrote it; null where nothing is
 * signed. `reason` is one sentence that names no secret and no signature; `hashed` says whether the whole body was hashed to find out, which takes time.
 */
export type Verification = { valid: true; mac: Buffer | null } | { valid: false; reason: string; hashed?: true };

export type SignatureAlgorithm = 'sha1' | 'sha256' | 'sha512';
export const SIGNATURE_ENCODINGS = ['hex', 'base64', 'base64url'] as const;
export type SignatureEncoding = (typeof SIGNATURE_ENCODINGS)[number];

/** Stripe's and Slack's advice for the age of a signed timestamp: five minutes, in either direction. */
const TIMESTAMP_TOLERANCE_SECONDS = 300;

export const invalid = (reason: string): Verification => ({ valid: false, reason });
const MISMATCH: Verification = {
  valid: false,
  reason: 'The signature does not match the body and the secret of the source',
  hashed: true,
};

/** The schema of a shared secret. */
export const secretSchema = z.string().min(1, 'must not be empty').max(4096, 'must be at most 4096 characters');

/**
 * Recommended secret length, in characters. A shorter secret gets a warning, because one signed request is enough to find it by brute
 * force. It is still accepted: the sender may have used it for years.
 */
export const ADVISED_SECRET_LENGTH = 16;

/** The text of a header by its lowercase name; undefined when it is missing or empty. */
export function header(request: SignedRequest, name: string): string | undefined {
  const bytes = Object.hasOwn(request.headers, name) ? request.headers[name] : undefined;
  return bytes ? valueText(bytes) : undefined;
}

/** The bytes of a header by its lowercase name, for a signature over its value; empty when it is missing. */
export function signedHeader(request: SignedRequest, name: string): Buffer {
  return Buffer.from((Object.hasOwn(request.headers, name) && request.headers[name]) || '', 'latin1');
}

/** The HMAC over the parts in order. */
export function hmac(algorithm: SignatureAlgorithm, secret: string | Buffer, ...parts: (string | Buffer)[]): Buffer {
  const mac = createHmac(algorithm, secret);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

const ENCODED: Readonly<Record<SignatureEncoding, RegExp>> = {
  hex: /^(?:[0-9a-f]{2})+$/i,
  // Some senders mean the other alphabet.
  base64: /^[A-Za-z0-9+/_-]+={0,2}$/,
  base64url: /^[A-Za-z0-9_-]+={0,2}$/,
};

/** The outcome of comparing received signatures, one of which is enough, with the right one. */
export function compared(received: string[], encoding: SignatureEncoding, mac: Buffer): Verification {
  return received.some((text) => macEquals(text, encoding, mac)) ? { valid: true, mac } : MISMATCH;
}

/** Compares a received signature with the right one in constant time. */
function macEquals(received: string, encoding: SignatureEncoding, expected: Buffer): boolean {
  const bytes = signatureBytes(received, encoding);
  return bytes?.length === expected.length && timingSafeEqual(bytes, expected);
}

/** The bytes of a received signature; null when it is not written so. */
export function signatureBytes(received: string, encoding: SignatureEncoding): Buffer | null {
  return ENCODED[encoding].test(received) ? Buffer.from(received, encoding) : null;
}

/** Whether two secrets are the same, in constant time. */
export function isSameSecret(one: string, other: string): boolean {
  const digest = (text: string) => hmac('sha256', 'comparison', text);
  return macEquals(digest(one).toString('hex'), 'hex', digest(other));
}

/** Checks a signed timestamp in whole seconds since 1970; returns what is wrong with it, or null. */
export function timestampProblem(text: string | undefined, nowMs: number): Verification | null {
  if (text === undefined || !/^\d{1,12}$/.test(text)) return invalid('The signed timestamp is missing or not a number');
  if (Math.abs(nowMs / 1000 - Number(text)) > TIMESTAMP_TOLERANCE_SECONDS) {
    return invalid(`The signed timestamp is more than ${TIMESTAMP_TOLERANCE_SECONDS} seconds from now`);
  }
  return null;
}

// What schemes are made of: the request that they read, the credentials that they verify it with, and the steps that
// several of them take. Each value of a request may come once, and what a stranger sends is bounded.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { type HeaderBytes, valueText } from '../http/headers.ts';
import { parseIsoTime } from '../text/timestamps.ts';
import type { PublishedKeys } from './published-keys.ts';

export interface RawRequest {
  method: string;
  headers: Readonly<HeaderBytes>;
  /** The exact bytes. */
  body: Buffer;
  /** When it came, ms since 1970. */
  nowMs: number;
  /** The whole address as the sender was given it: scheme, host, path and query. */
  url(): string;
  query(): URLSearchParams;
  /** Whether a header came more than once. @param name in lower case */
  isRepeated(name: string): boolean;
  /** What a function makes of the body: of one request, however often it is verified, it is made once. */
  parsed<T>(parse: (body: Buffer) => T): T;
}

/** What the sender and the source share, in clear. */
export interface Credentials {
  /** The key of the signature, the token, or the sender's public key; empty: there is none (yet). */
  secret: string;
  /** The second secret of providers that ask for one in their handshake. */
  verifyToken?: string;
}

/** The right signature in its bytes, however the sender wrote it; null where nothing is signed. */
export type Mac = Buffer | null;

/**
 * What a scheme throws where a request is not genuine. No Error: strangers cause it, and a stack trace would cost more
 * than most checks. `reason` is one sentence that names no secret and no signature; `hashed` says whether the whole body
 * was hashed to find out, which takes time.
 */
export class VerificationRefusal {
  readonly reason: string;
  hashed: boolean;
  constructor(reason: string, hashed: boolean) {
    this.reason = reason;
    this.hashed = hashed;
  }
}

export function refuse(reason: string, hashed = false): never {
  throw new VerificationRefusal(reason, hashed);
}

/** A webhook before its sender signs it. */
export interface Unsigned {
  url: string;
  body: Buffer;
  contentType: string;
  nowMs: number;
  id: string;
}

export interface Signed {
  headers: Record<string, string>;
  body: Buffer;
  query: Record<string, string>;
}

export interface SchemeKind<Scheme> {
  /**
   * Verifies a request; comparisons take constant time.
   * @throws VerificationRefusal; KeysAwayError when a key of the sender is needed, and cannot be had now
   */
  verify(scheme: Scheme, credentials: Credentials, request: RawRequest, keys: PublishedKeys): Mac | Promise<Mac>;
  /** What a POST gets by which its sender is known; null, or absent: nobody but the sender can sign. */
  sign?(scheme: Scheme, secret: string, unsigned: Unsigned): Partial<Signed> | null;
  /** What is wrong with the form of a secret that an owner enters, as the end of a sentence; null when nothing is. */
  secretProblem?(scheme: Scheme, secret: string): string | null;
  secretHeaders?(scheme: Scheme): readonly string[];
  /** Where a secret stands that is good for any body, so that it is neither stored nor forwarded. */
  token?(scheme: Scheme): { header: string } | { parameter: string } | null;
  /** Whether there is a signature by which a repeat is known; a token is the same in each request. Absent: there is. */
  isSigned?(scheme: Scheme): boolean;
  /** Whether the source shares something with the sender; else what the sender publishes is enough. Absent: it does. */
  needsSecret?(scheme: Scheme): boolean;
  /** Whether a webhook may make this service ask the sender for a key. Absent: it may not. */
  needsPublishedKeys?(scheme: Scheme): boolean;
}

export const secretSchema = z.string().min(1, 'must not be empty').max(4096, 'must be at most 4096 characters long');

/**
 * Recommended secret length, in characters. A shorter secret gets a warning, because one signed request is enough to
 * find it by brute force. It is still accepted: the sender may have used it for years.
 */
export const ADVISED_SECRET_LENGTH = 16;

export const SIGNATURE_ALGORITHMS = ['sha1', 'sha256', 'sha512'] as const;
export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];
export const SIGNATURE_ENCODINGS = ['hex', 'base64', 'base64url'] as const;
export type SignatureEncoding = (typeof SIGNATURE_ENCODINGS)[number];

export function hmac(
  algorithm: SignatureAlgorithm,
  secret: string | Buffer,
  ...parts: readonly (string | Buffer)[]
): Buffer {
  const mac = createHmac(algorithm, secret);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

/**
 * The right signature, if it is one of those that came.
 * @param hashed false: something else than the body was hashed
 * @throws VerificationRefusal
 */
export function requireMac(
  received: readonly string[],
  encoding: SignatureEncoding,
  mac: Buffer,
  hashed = true,
): Buffer {
  if (!includesMac(received, encoding, mac))
    refuse("The signature does not match the webhook and the source's secret", hashed);
  return mac;
}

export const includesMac = (received: readonly string[], encoding: SignatureEncoding, mac: Buffer): boolean =>
  received.some((text) => macEquals(text, encoding, mac));

export function isSameSecret(one: string, other: string): boolean {
  const digest = (text: string) => hmac('sha256', 'comparison', text);
  return macEquals(digest(one).toString('hex'), 'hex', digest(other));
}

function macEquals(received: string, encoding: SignatureEncoding, expected: Buffer): boolean {
  const bytes = signatureBytes(received, encoding);
  return bytes?.length === expected.length && timingSafeEqual(bytes, expected);
}

const ENCODED: Readonly<Record<SignatureEncoding, RegExp>> = {
  hex: /^(?:[0-9a-f]{2})+$/i,
  // Some senders mean the other alphabet.
  base64: /^[A-Za-z0-9+/_-]+={0,2}$/,
  base64url: /^[A-Za-z0-9_-]+={0,2}$/,
};

/** The bytes of a received signature; null when it is not written so. */
export function signatureBytes(received: string, encoding: SignatureEncoding): Buffer | null {
  return ENCODED[encoding].test(received) ? Buffer.from(received, encoding) : null;
}

/** The text of a header by its lowercase name; undefined when it is missing or empty. */
export function header(request: Pick<RawRequest, 'headers'>, name: string): string | undefined {
  const bytes = Object.hasOwn(request.headers, name) ? request.headers[name] : undefined;
  return bytes ? valueText(bytes) : undefined;
}

/** The bytes of a header by its lowercase name, for a signature over its value; empty when it is missing. */
export function signedHeader(request: RawRequest, name: string): Buffer {
  return Buffer.from((Object.hasOwn(request.headers, name) && request.headers[name]) || '', 'latin1');
}

/** Between the values of a repeated header (core/http/headers.ts); no provider sends them in a signature. */
export const JOINED = ', ';

/** A header that must be there, once. @param name as the sender writes it @throws VerificationRefusal */
export function headerOf(request: RawRequest, name: string): string {
  const value = header(request, name.toLowerCase()) ?? refuse(`The ${name} header is missing`);
  requireOnce(request, name, value);
  return value;
}

export function requireOnce(request: RawRequest, name: string, value: string): void {
  if (value.includes(JOINED) || request.isRepeated(name.toLowerCase()))
    refuse(`The ${name} header is present more than once`);
}

export type TimeUnit = 's' | 'ms' | 'rfc3339';
interface SignedTime {
  unit: TimeUnit;
  toleranceSeconds: number;
}

const TIMES: Readonly<Record<TimeUnit, { form: RegExp; is: string }>> = {
  s: { form: /^\d{1,12}$/, is: 'a number' },
  ms: { form: /^\d{1,15}$/, is: 'a number' },
  rfc3339: { form: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/, is: 'an RFC 3339 time' },
};

/** @throws VerificationRefusal when a signed time is missing, malformed, or outside the tolerance around now, in s */
export function requireTime(text: string, { unit, toleranceSeconds }: SignedTime, nowMs: number): void {
  const ms = TIMES[unit].form.test(text) ? millisecondsOf(text, unit) : Number.NaN;
  if (Number.isNaN(ms)) refuse(`The signed timestamp is missing or is not ${TIMES[unit].is}`);
  if (Math.abs(nowMs - ms) > toleranceSeconds * 1000)
    refuse(`The signed timestamp differs from the current time by more than ${toleranceSeconds} seconds`);
}

function millisecondsOf(text: string, unit: TimeUnit): number {
  if (unit === 's') return Number(text) * 1000;
  return unit === 'ms' ? Number(text) : (parseIsoTime(text) ?? Number.NaN);
}

/** The time in this form. @param ms since 1970 */
export function timeText(ms: number, unit: TimeUnit): string {
  if (unit === 's') return String(Math.floor(ms / 1000));
  return unit === 'ms' ? String(Math.floor(ms)) : new Date(ms).toISOString();
}

export const FORM = 'application/x-www-form-urlencoded';

/**
 * The JSON of a body that nobody has vouched for yet; undefined when it is none, or too large to be parsed for a
 * stranger: nothing else happens in this process meanwhile.
 * @param maxBytes as many as the sender sends
 */
export function untrustedJson(request: RawRequest, maxBytes: number): unknown {
  return request.body.length > maxBytes ? undefined : request.parsed(jsonOf);
}

export function jsonOf(body: Buffer | string): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

export const jsonBytes = (value: object): Buffer => Buffer.from(JSON.stringify(value));

export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

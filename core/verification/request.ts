// What the schemes of providers read of a request, and how: each value may come once, and what a stranger sends is bounded.
import { header, invalid, type SignedRequest, type Verification } from '../signatures/scheme.ts';
import { parseIsoTime } from '../text/timestamps.ts';

/** A received request, as far as a provider may sign it. */
export interface ProviderRequest extends SignedRequest {
  method: string;
  /** The whole address as the provider was given it: scheme, host, path and query. */
  url(): string;
  query(): URLSearchParams;
  /** Whether a header came more than once. @param name in lower case */
  isRepeated(name: string): boolean;
  /** What a function makes of the body: of one request, however often it is verified, it is made once. */
  parsed<T>(parse: (body: Buffer) => T): T;
}

/** What the provider and the source share, in clear. */
export interface Credentials {
  /** The key of the signature, the token, or the provider's public key. */
  secret: string;
  /** The second secret of providers that ask for one in their handshake. */
  verifyToken?: string;
}

export type Refused = Verification & { valid: false };

// Between the values of a repeated header (core/http/header-text.ts); no provider sends them in a signature.
export const JOINED = ', ';

/** A header that must be there, once. @param name as the provider writes it */
export function headerOf(request: ProviderRequest, name: string): string | Refused {
  const value = header(request, name.toLowerCase());
  if (value === undefined) return refused(`The header ${name} is missing`);
  if (value.includes(JOINED) || request.isRepeated(name.toLowerCase()))
    return refused(`The header ${name} came more than once`);
  return value;
}

export const refused = (reason: string): Refused => invalid(reason) as Refused;

/** Of a scheme that hashes something else than the body. */
export const withoutBody = (outcome: Verification): Verification => (outcome.valid ? outcome : refused(outcome.reason));

export type TimeUnit = 's' | 'ms' | 'rfc3339';

const FORMS: Readonly<Record<TimeUnit, RegExp>> = {
  s: /^\d{1,12}$/,
  ms: /^\d{1,15}$/,
  rfc3339: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/,
};

/** What is wrong with a signed time; null when it is at most so many seconds ago or ahead. */
export function timeProblem(
  text: string,
  { unit, toleranceSeconds }: { unit: TimeUnit; toleranceSeconds: number },
  nowMs: number,
): Refused | null {
  const ms = FORMS[unit].test(text) ? millisecondsOf(text, unit) : Number.NaN;
  if (Number.isNaN(ms)) return refused('The signed timestamp is missing or not a time');
  if (Math.abs(nowMs - ms) > toleranceSeconds * 1000)
    return refused(`The signed timestamp is more than ${toleranceSeconds} seconds from now`);
  return null;
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

/**
 * The JSON of a body that nobody has vouched for yet; undefined when it is none, or too large to be parsed for a stranger: nothing else
 * happens in this process meanwhile.
 * @param maxBytes as many as the provider sends
 */
export function untrustedJson(request: ProviderRequest, maxBytes: number): unknown {
  return request.body.length > maxBytes ? undefined : request.parsed(jsonOf);
}

/** The JSON of a body; undefined when it is none. */
export function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** A member of an object that may be anything. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

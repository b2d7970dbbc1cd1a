// The registry of schemes: how webhooks are verified. The scheme of a source is that of its provider (providers/), or
// the one that its owner describes (config.ts). A new kind is an object in one of these files, and a line in `kinds`.
import { withoutParameter } from '../delivery/delivery-url.ts';
import { paypalKind, snsKind } from './certificates.ts';
import { jwtKind } from './jwt.ts';
import { publicKeyKind } from './public-key.ts';
import type { PublishedKeys } from './published-keys.ts';
import {
  type Credentials,
  type Mac,
  type RawRequest,
  VerificationRefusal,
  type SchemeKind,
  type Signed,
  type Unsigned,
} from './scheme.ts';
import { adyenKind, braintreeKind, mailgunKind } from './signed-bodies.ts';
import { hook0Kind, twilioKind, webSubKind } from './signed-requests.ts';
import { standardKind } from './standard-webhooks.ts';
import { hmacKind } from './header-signature.ts';
import { basicKind, bodyTokenKind, headerTokenKind, noneKind, payloadTokenKind, queryTokenKind } from './tokens.ts';

export type { Credentials, RawRequest } from './scheme.ts';

/** Whether a request is genuine (scheme.ts). */
export type Verification = { valid: true; mac: Mac } | { valid: false; reason: string; hashed?: true };

const kinds = {
  none: noneKind,
  hmac: hmacKind,
  'public-key': publicKeyKind,
  standard: standardKind,
  jwt: jwtKind,
  'header-token': headerTokenKind,
  basic: basicKind,
  'query-token': queryTokenKind,
  'body-token': bodyTokenKind,
  'payload-token': payloadTokenKind,
  adyen: adyenKind,
  braintree: braintreeKind,
  mailgun: mailgunKind,
  twilio: twilioKind,
  hook0: hook0Kind,
  websub: webSubKind,
  sns: snsKind,
  paypal: paypalKind,
};

type SchemeOf<Kind> = Kind extends SchemeKind<infer Scheme> ? Scheme : never;
export type Scheme = SchemeOf<(typeof kinds)[keyof typeof kinds]>;

const kindOf = ({ kind }: Scheme) => kinds[kind] as SchemeKind<Scheme>;

/**
 * A promise only where keys or threads are needed.
 * @param credentials of the source, in clear
 * @throws KeysAwayError
 */
export function verify(
  scheme: Scheme,
  credentials: Credentials,
  request: RawRequest,
  keys: PublishedKeys,
): Verification | Promise<Verification> {
  try {
    const mac = kindOf(scheme).verify(scheme, credentials, request, keys);
    return mac instanceof Promise ? mac.then(genuine, refused) : genuine(mac);
  } catch (error) {
    return refused(error);
  }
}

const genuine = (mac: Mac): Verification => ({ valid: true, mac });

function refused(error: unknown): Verification {
  if (!(error instanceof VerificationRefusal)) throw error;
  return { valid: false, reason: error.reason, ...(error.hashed && { hashed: true }) };
}

/** Signs a POST as the sender does; null when that takes a private key (public-key.ts), or one that nobody else has. */
export function signAs(scheme: Scheme, secret: string, unsigned: Unsigned): Signed | null {
  const signed = kindOf(scheme).sign?.(scheme, secret, unsigned) ?? null;
  return signed && { headers: {}, body: unsigned.body, query: {}, ...signed };
}

export const needsPublishedKeys = (scheme: Scheme): boolean => kindOf(scheme).needsPublishedKeys?.(scheme) ?? false;

export const needsSecret = (scheme: Scheme): boolean => kindOf(scheme).needsSecret?.(scheme) ?? true;

export const secretProblem = (scheme: Scheme, secret: string): string | null =>
  kindOf(scheme).secretProblem?.(scheme, secret) ?? null;

export const isSigned = (scheme: Scheme): boolean => kindOf(scheme).isSigned?.(scheme) ?? true;

/** The headers whose values are not shown, in lower case. */
export const secretHeaders = (scheme: Scheme): string[] =>
  (kindOf(scheme).secretHeaders?.(scheme) ?? []).map((name) => name.toLowerCase());

interface StoredParts {
  headers: Record<string, string>;
  queryText: string;
}

/**
 * What is left of the headers and the query when the token in them is taken out, so that it is neither stored nor
 * forwarded.
 */
export function withoutToken(scheme: Scheme, { headers, queryText }: StoredParts): StoredParts {
  const token = kindOf(scheme).token?.(scheme) ?? null;
  if (token === null) return { headers, queryText };
  if ('parameter' in token) return { headers, queryText: withoutParameter(queryText, token.parameter) };
  const { [token.header.toLowerCase()]: _token, ...others } = headers;
  return { headers: others, queryText };
}

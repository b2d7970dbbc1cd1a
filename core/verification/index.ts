// How the webhooks of a provider are verified: a scheme with its parameters (providers/). Beside core/signatures, which has the types
// that a source may name by itself.
// Rules: PRV-05 to PRV-10, PRV-16.
import { withoutParameter } from '../http/query-text.ts';
import type { Verification } from '../signatures/scheme.ts';
import { type AdyenScheme, adyenProblem, verifyAdyen } from './adyen.ts';
import { type BraintreeScheme, braintreeProblem, verifyBraintree } from './braintree.ts';
import { type HmacScheme, hmacKeyProblem, verifyHmacScheme } from './hmac.ts';
import { type Hook0Scheme, verifyHook0 } from './hook0.ts';
import { type MailgunScheme, verifyMailgun } from './mailgun.ts';
import {
  type KeySignatureScheme,
  type PublicKeyScheme,
  publicKeyProblem,
  verifyKeySignature,
  verifyPublicKey,
} from './public-key.ts';
import { type JwtScheme, jwtProblem, verifyJwt } from './published/jwt.ts';
import type { PublishedKeys } from './published/keys.ts';
import { PAYPAL_HEADERS, type PaypalScheme, verifyPaypal, webhookIdProblem } from './published/paypal.ts';
import { type SnsScheme, topicProblem, verifySns } from './published/sns.ts';
import { type Credentials, JOINED, type ProviderRequest } from './request.ts';
import { type StandardScheme, standardKeyProblem, verifyStandard } from './standard-webhooks.ts';
import {
  basicProblem,
  type PayloadTokenScheme,
  type TokenScheme,
  verifyBasic,
  verifyBodyToken,
  verifyHeaderToken,
  verifyPayloadToken,
  verifyQueryToken,
} from './tokens.ts';
import { TWILIO_HEADER, type TwilioScheme, verifyTwilio } from './twilio.ts';
import { verifyWebSub, type WebSubScheme } from './websub.ts';

export type { Credentials, ProviderRequest } from './request.ts';

/** Schemes that need nothing but what the source has, and verify at once. */
export type LocalScheme =
  | (HmacScheme | TokenScheme | TwilioScheme | MailgunScheme)
  | (AdyenScheme | BraintreeScheme | WebSubScheme | Hook0Scheme);
export type Scheme = LocalScheme | StandardScheme | PublicKeyScheme | JwtScheme | SnsScheme | PaypalScheme;
/** Those of providers, and those that only owners describe (./described). */
export type AnyScheme = Scheme | KeySignatureScheme | PayloadTokenScheme;

/**
 * Verifies that a request comes from the provider; comparisons take constant time.
 * @param credentials of the source, in clear
 * @throws KeysAwayError when a key of the provider is needed, and cannot be had now
 */
export async function verifyProvided(
  scheme: AnyScheme,
  credentials: Credentials,
  request: ProviderRequest,
  keys: PublishedKeys,
): Promise<Verification> {
  switch (scheme.kind) {
    case 'jwt':
      return verifyJwt(scheme, credentials, request, keys);
    case 'sns':
      return verifySns(scheme, credentials, request, keys);
    case 'paypal':
      return verifyPaypal(scheme, credentials, request, keys);
    case 'standard':
      return verifyStandard(scheme, credentials, request);
    case 'public-key':
      return verifyPublicKey(scheme, credentials, request);
    case 'key-signature':
      return verifyKeySignature(scheme, credentials, request);
    case 'payload-token':
      return verifyPayloadToken(scheme, credentials, request);
    default:
      return verifyScheme(scheme, credentials, request);
  }
}

/** The same of a scheme that needs no key of others and no thread. */
export function verifyScheme(scheme: LocalScheme, credentials: Credentials, request: ProviderRequest): Verification {
  switch (scheme.kind) {
    case 'hmac':
      return verifyHmacScheme(scheme, credentials, request);
    case 'header-token':
      return verifyHeaderToken(scheme, credentials, request);
    case 'basic':
      return verifyBasic(scheme, credentials, request);
    case 'query-token':
      return verifyQueryToken(scheme, credentials, request);
    case 'body-token':
      return verifyBodyToken(scheme, credentials, request);
    case 'twilio':
      return verifyTwilio(scheme, credentials, request);
    case 'mailgun':
      return verifyMailgun(scheme, credentials, request);
    case 'adyen':
      return verifyAdyen(credentials, request);
    case 'braintree':
      return verifyBraintree(credentials, request);
    case 'websub':
      return verifyWebSub(credentials, request);
    case 'hook0':
      return verifyHook0(scheme, credentials, request);
  }
}

/** Whether a webhook may make this service ask the provider for a key. */
export const needsPublishedKeys = (scheme: AnyScheme): boolean =>
  scheme.kind === 'sns' || scheme.kind === 'paypal' || (scheme.kind === 'jwt' && scheme.keys !== 'secret');

/** Whether the source shares something with the sender; else what the sender publishes is enough. */
export const needsSecret = (scheme: AnyScheme): boolean =>
  scheme.kind !== 'jwt' || typeof scheme.keys === 'string' || scheme.sender !== undefined;

/** What is wrong with the form of a secret that the owner enters; null when nothing is. */
export function secretProblem(scheme: AnyScheme, secret: string): string | null {
  switch (scheme.kind) {
    case 'standard':
      return standardKeyProblem(secret);
    case 'public-key':
    case 'key-signature':
      return publicKeyProblem(scheme, secret);
    case 'basic':
      return basicProblem(secret);
    case 'hmac':
      return hmacKeyProblem(scheme, secret);
    case 'header-token':
      return secret.includes(JOINED) ? 'must not hold a comma and a space' : null;
    case 'adyen':
      return adyenProblem(secret);
    case 'braintree':
      return braintreeProblem(secret);
    case 'jwt':
      return jwtProblem(scheme, secret);
    case 'sns':
      return topicProblem(secret);
    case 'paypal':
      return webhookIdProblem(secret);
    default:
      return null;
  }
}

const TOKENS: readonly AnyScheme['kind'][] = ['header-token', 'basic', 'query-token', 'body-token', 'payload-token'];

/** Whether a request has a signature by which a repeat is known; a token is the same in each. */
export function isSigned(scheme: AnyScheme): boolean {
  const { kind } = scheme;
  if (kind === 'jwt') return scheme.bodyHash !== undefined;
  return !TOKENS.includes(kind);
}

/** The headers whose values are not shown, in lower case. */
export function secretHeaders(scheme: AnyScheme): string[] {
  switch (scheme.kind) {
    case 'hmac':
    case 'key-signature':
    case 'header-token':
      return [scheme.header.toLowerCase(), 'x-hook-secret'];
    case 'jwt':
    case 'hook0':
      return [scheme.header.toLowerCase()];
    case 'websub':
      return ['x-hub-signature'];
    case 'twilio':
      return [(scheme.header ?? TWILIO_HEADER).toLowerCase()];
    case 'public-key':
      return [scheme.signatureHeader.toLowerCase()];
    case 'paypal':
      return PAYPAL_HEADERS.map((name) => name.toLowerCase());
    default:
      return [];
  }
}

interface StoredParts {
  headers: Record<string, string>;
  queryText: string;
}

/** What is left of the headers and the query when the secret in them is taken out, so that it is neither stored nor forwarded. */
export function withoutSecret(scheme: AnyScheme, { headers, queryText }: StoredParts): StoredParts {
  if (scheme.kind === 'query-token') return { headers, queryText: withoutParameter(queryText, scheme.parameter) };
  const isToken = scheme.kind === 'header-token' || scheme.kind === 'basic';
  // Anyone who has a JSON Web Token without a hash of the body can send any body with it.
  if (!isToken && (scheme.kind !== 'jwt' || scheme.bodyHash !== undefined)) return { headers, queryText };
  const name = scheme.kind === 'basic' ? 'authorization' : scheme.header.toLowerCase();
  const { [name]: _secret, ...others } = headers;
  return { headers: others, queryText };
}

// How the webhooks of a provider are verified: a scheme with its parameters (providers/). Beside core/signatures, which has the types
// that a source may name by itself.
// Rules: PRV-05 to PRV-10.
import type { Verification } from '../signatures/scheme.ts';
import { type AdyenScheme, adyenProblem, verifyAdyen } from './adyen.ts';
import { type BraintreeScheme, braintreeProblem, verifyBraintree } from './braintree.ts';
import { type HmacScheme, verifyHmacScheme } from './hmac.ts';
import { type MailgunScheme, verifyMailgun } from './mailgun.ts';
import { type PublicKeyScheme, publicKeyProblem, verifyPublicKey } from './public-key.ts';
import { type Credentials, JOINED, type ProviderRequest } from './request.ts';
import { type StandardScheme, standardKeyProblem, verifyStandard } from './standard-webhooks.ts';
import {
  basicProblem,
  type TokenScheme,
  verifyBasic,
  verifyBodyToken,
  verifyHeaderToken,
  verifyQueryToken,
} from './tokens.ts';
import { type TwilioScheme, verifyTwilio } from './twilio.ts';
import { verifyWebSub, type WebSubScheme } from './websub.ts';

export type { Credentials, ProviderRequest } from './request.ts';

export type Scheme =
  | (StandardScheme | HmacScheme | TokenScheme | TwilioScheme | MailgunScheme | PublicKeyScheme)
  | (AdyenScheme | BraintreeScheme | WebSubScheme);

/**
 * Verifies that a request comes from the provider; comparisons take constant time.
 * @param credentials of the source, in clear
 */
export function verifyScheme(scheme: Scheme, credentials: Credentials, request: ProviderRequest): Verification {
  switch (scheme.kind) {
    case 'standard':
      return verifyStandard(scheme, credentials, request);
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
    case 'public-key':
      return verifyPublicKey(scheme, credentials, request);
    case 'adyen':
      return verifyAdyen(credentials, request);
    case 'braintree':
      return verifyBraintree(credentials, request);
    case 'websub':
      return verifyWebSub(credentials, request);
  }
}

/** What is wrong with the form of a secret that the owner enters; null when nothing is. */
export function secretProblem(scheme: Scheme, secret: string): string | null {
  switch (scheme.kind) {
    case 'standard':
      return standardKeyProblem(secret);
    case 'public-key':
      return publicKeyProblem(scheme, secret);
    case 'basic':
      return basicProblem(secret);
    case 'hmac':
      return scheme.key === 'base64' && !/^[A-Za-z0-9+/]+={0,2}$/.test(secret) ? 'must be base64' : null;
    case 'header-token':
      return secret.includes(JOINED) ? 'must not hold a comma and a space' : null;
    case 'adyen':
      return adyenProblem(secret);
    case 'braintree':
      return braintreeProblem(secret);
    default:
      return null;
  }
}

/** Whether a request has a signature by which a repeat is known; a token is the same in each. */
export function isSigned({ kind }: Scheme): boolean {
  return kind !== 'header-token' && kind !== 'basic' && kind !== 'query-token' && kind !== 'body-token';
}

/** The headers whose values are not shown, in lower case. */
export function secretHeaders(scheme: Scheme): string[] {
  if (scheme.kind === 'hmac' || scheme.kind === 'header-token') return [scheme.header.toLowerCase(), 'x-hook-secret'];
  if (scheme.kind === 'websub') return ['x-hub-signature'];
  return scheme.kind === 'public-key' ? [scheme.signatureHeader.toLowerCase()] : [];
}

interface StoredParts {
  headers: Record<string, string>;
  queryText: string;
}

/** What is left of the headers and the query when the secret in them is taken out, so that it is neither stored nor forwarded. */
export function withoutSecret(scheme: Scheme, { headers, queryText }: StoredParts): StoredParts {
  if (scheme.kind === 'query-token') return { headers, queryText: withoutParameter(queryText, scheme.parameter) };
  if (scheme.kind !== 'header-token' && scheme.kind !== 'basic') return { headers, queryText };
  const name = scheme.kind === 'basic' ? 'authorization' : scheme.header.toLowerCase();
  const { [name]: _secret, ...others } = headers;
  return { headers: others, queryText };
}

function withoutParameter(queryText: string, parameter: string): string {
  const query = new URLSearchParams(queryText);
  query.delete(parameter);
  return query.toString();
}

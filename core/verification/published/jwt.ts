// Providers that send a JSON Web Token (RFC 7519): signed with a key that they publish, or with a secret that the source shares.
import { createHash } from 'node:crypto';
import { errors, type JWTHeaderParameters, type JWTPayload, jwtVerify } from 'jose';
import { isSameSecret, type Verification } from '../../signatures/scheme.ts';
import { type Credentials, headerOf, type ProviderRequest, refused, timeProblem } from '../request.ts';
import { type KeyDocument, KeysAwayError, type PublishedKeys, readKeySet } from './keys.ts';
import { plaidKey } from './plaid.ts';

export interface JwtScheme {
  kind: 'jwt';
  /** The header of the token, which may stand behind `Bearer `. */
  header: string;
  algorithm: 'HS256' | 'RS256' | 'ES256';
  /** Whose key signs: the source's secret, one of a JSON Web Key Set at an address, or one that Plaid names. */
  keys: 'secret' | 'plaid' | { jwks: string };
  issuers?: readonly string[];
  /** Whether `aud` must be the address of the source, or has to be where there is one. */
  audience?: 'required' | 'optional';
  /** The claim that is the secret of the source: who sends. */
  sender?: 'email';
  /** The claim with the SHA-256 of the body, in hex; absent: the body is not signed. */
  bodyHash?: string;
  /** Of `iat`. */
  toleranceSeconds: number;
}

const MAX_TOKEN = 8192;
const FORM = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const KEY_ID = /^[\w.:-]{1,128}$/;
// Clocks differ by that much (RFC 7519, section 4.1.4: "usually no more than a few minutes").
const CLOCK_SECONDS = 60;

export async function verifyJwt(
  scheme: JwtScheme,
  { secret }: Credentials,
  request: ProviderRequest,
  keys: PublishedKeys,
): Promise<Verification> {
  const value = headerOf(request, scheme.header);
  if (typeof value !== 'string') return value;
  const token = value.replace(/^Bearer /, '');
  if (token.length > MAX_TOKEN || !FORM.test(token))
    return refused(`The header ${scheme.header} holds no JSON Web Token`);
  const claims = await claimsOf(token, scheme, { secret, keys, nowMs: request.nowMs });
  if (typeof claims === 'string') return refused(claims);
  const problem = problemOf(claims, scheme, secret, request);
  if (problem !== null) return problem;
  // A token without a hash of the body is sent with several webhooks, so it tells no repeat.
  return { valid: true, mac: scheme.bodyHash === undefined ? null : createHash('sha256').update(token).digest() };
}

/** What the token says, or why it is not believed. @throws KeysAwayError */
async function claimsOf(
  token: string,
  scheme: JwtScheme,
  { secret, keys, nowMs }: { secret: string; keys: PublishedKeys; nowMs: number },
): Promise<JWTPayload | string> {
  const options = {
    algorithms: [scheme.algorithm],
    currentDate: new Date(nowMs),
    clockTolerance: CLOCK_SECONDS,
    ...(scheme.issuers && { issuer: [...scheme.issuers] }),
  };
  try {
    return (await jwtVerify(token, (header: JWTHeaderParameters) => keyOf(header, scheme, secret, keys), options)).payload;
  } catch (error) {
    if (error instanceof KeysAwayError || !(error instanceof errors.JOSEError || error instanceof NoKeyError))
      throw error;
    return reasonOf(error);
  }
}

class NoKeyError extends Error {}

async function keyOf({ kid }: JWTHeaderParameters, scheme: JwtScheme, secret: string, keys: PublishedKeys) {
  if (scheme.keys === 'secret') return new TextEncoder().encode(secret);
  if (typeof kid !== 'string' || !KEY_ID.test(kid)) throw new NoKeyError();
  const document = scheme.keys === 'plaid' ? plaidKey(secret, kid) : keySet(scheme.keys.jwks);
  const found = await keys.key(document, kid);
  if (found === null) throw new NoKeyError();
  return found.key;
}

const keySet = (url: string): KeyDocument => ({ url, isNamedByWebhook: false, read: readKeySet });

function reasonOf(error: Error): string {
  if (error instanceof NoKeyError) return 'The provider has no key of the name that the token has';
  if (error instanceof errors.JWTExpired) return 'The token has expired';
  if (error instanceof errors.JWTClaimValidationFailed) return 'The token says something else than it must';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'The token is signed in another way than the provider does';
  return 'The signature of the token is wrong';
}

function problemOf(claims: JWTPayload, scheme: JwtScheme, secret: string, request: ProviderRequest) {
  const { iat, aud } = claims;
  const issued = typeof iat === 'number' ? String(Math.floor(iat)) : '';
  const late = timeProblem(issued, { unit: 's', toleranceSeconds: scheme.toleranceSeconds }, request.nowMs);
  if (late !== null) return late;
  const isForUs = aud === undefined ? scheme.audience !== 'required' : aud === request.url();
  if (scheme.audience !== undefined && !isForUs) return refused('The token is for another address (aud)');
  if (scheme.sender !== undefined && !isSender(claims, scheme.sender, secret))
    return refused('The token is of another sender');
  if (scheme.bodyHash === undefined) return null;
  const hash = claims[scheme.bodyHash];
  const digest = createHash('sha256').update(request.body).digest('hex');
  const isSame = typeof hash === 'string' && isSameSecret(hash, digest);
  return isSame ? null : { ...refused('The body is not that of the token'), hashed: true as const };
}

function isSender(claims: JWTPayload, name: string, secret: string): boolean {
  const { [name]: sender, [`${name}_verified`]: isVerified } = claims;
  return typeof sender === 'string' && isVerified === true && isSameSecret(sender, secret);
}

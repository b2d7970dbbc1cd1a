// Providers that send a JSON Web Token (RFC 7519): signed with a key that they publish, or with a secret that the
// source shares.
import { createHash, type KeyObject } from 'node:crypto';
import { decodeJwt, errors, type JWTHeaderParameters, type JWTPayload, jwtVerify } from 'jose';
import {
  isP256,
  isRsa,
  type KeyDocument,
  plaidKey,
  plaidProblem,
  type PublishedKeys,
  readKeySet,
} from './published-keys.ts';
import {
  headerOf,
  hmac,
  isSameSecret,
  jsonBytes,
  type RawRequest,
  VerificationRefusal,
  refuse,
  requireTime,
  type SchemeKind,
  type Unsigned,
} from './scheme.ts';

interface JwtScheme {
  kind: 'jwt';
  header: string;
  algorithm: 'HS256' | 'RS256' | 'ES256';
  keys: 'secret' | 'plaid' | { jwks: string };
  issuers?: readonly string[];
  /** Whether `aud` must be the address of the source, or has to be where there is one; or what it must hold. */
  audience?: 'required' | 'optional' | { is: string };
  claims?: Readonly<Record<string, string>>;
  /** The claim that is the secret of the source: who sends. */
  sender?: 'email';
  /** The claim with the SHA-256 of the body, in hex; absent: the body is not signed, and the token has to expire. */
  bodyHash?: string;
  toleranceSeconds: number;
}

const MAX_TOKEN = 8192;
const FORM = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const KEY_ID = /^[\w.:-]{1,128}$/;
// Clocks differ (RFC 7519, section 4.1.4: no more than a few minutes).
const CLOCK_SECONDS = 60;

const SERVICE_ACCOUNT = /^[\w.+-]{1,128}@(?:[\w-]+\.){1,8}gserviceaccount\.com$/;

export const jwtKind: SchemeKind<JwtScheme> = {
  async verify(scheme, { secret }, request, keys) {
    const token = headerOf(request, scheme.header).replace(/^bearer +/i, '');
    if (token.length > MAX_TOKEN || !FORM.test(token)) refuseNoToken(scheme);
    try {
      // First what costs nothing: no key is fetched for a token that would be refused with it, too.
      requireClaims(claimsOf(token, scheme), scheme, secret, request);
      await requireToken(token, scheme, secret, { request, keys });
    } catch (error) {
      if (error instanceof VerificationRefusal) error.hashed = scheme.bodyHash !== undefined;
      throw error;
    }
    // A token without a hash of the body is sent with several webhooks, so it tells no repeat. The signature of one
    // with it can be written in two ways (ECDSA): what was signed tells.
    const signed = token.slice(0, token.lastIndexOf('.'));
    return scheme.bodyHash === undefined ? null : createHash('sha256').update(signed).digest();
  },
  sign: (scheme, secret, unsigned) =>
    scheme.keys === 'secret' ? { headers: { [scheme.header]: sharedToken(scheme, secret, unsigned) } } : null,
  secretProblem(scheme, secret) {
    if (scheme.keys === 'plaid') return plaidProblem(secret);
    if (scheme.sender === undefined || SERVICE_ACCOUNT.test(secret)) return null;
    return "must be the service account's email address, which ends with .gserviceaccount.com";
  },
  secretHeaders: ({ header }) => [header],
  // Anyone who has a token without a hash of the body can send any body with it.
  token: ({ header, bodyHash }) => (bodyHash === undefined ? { header } : null),
  isSigned: ({ bodyHash }) => bodyHash !== undefined,
  needsSecret: ({ keys, sender }) => typeof keys === 'string' || sender !== undefined,
  needsPublishedKeys: ({ keys }) => keys !== 'secret',
};

const refuseNoToken = ({ header }: JwtScheme): never =>
  refuse(`The ${header} header does not contain a JSON Web Token`);

function claimsOf(token: string, scheme: JwtScheme): JWTPayload {
  try {
    return decodeJwt(token);
  } catch (error) {
    if (error instanceof errors.JOSEError) return refuseNoToken(scheme);
    throw error;
  }
}

function requireClaims(claims: JWTPayload, scheme: JwtScheme, secret: string, request: RawRequest): void {
  const { iat, aud } = claims;
  const issued = typeof iat === 'number' ? String(Math.floor(iat)) : '';
  requireTime(issued, { unit: 's', toleranceSeconds: scheme.toleranceSeconds }, request.nowMs);
  requireAudience(aud, scheme.audience, request);
  for (const [name, text] of Object.entries(scheme.claims ?? {}))
    if (!Object.hasOwn(claims, name) || claims[name] !== text)
      refuse(`The token's ${name} claim does not have the value that the source requires`);
  if (scheme.sender !== undefined && !isSender(claims, scheme.sender, secret))
    refuse("The token is not from the source's service account");
  if (scheme.bodyHash === undefined) return;
  const hash = claims[scheme.bodyHash];
  const digest = createHash('sha256').update(request.body).digest('hex');
  if (typeof hash !== 'string' || !isSameSecret(hash, digest)) refuse('The body does not match the token');
}

function requireAudience(aud: JWTPayload['aud'], wanted: JwtScheme['audience'], request: RawRequest): void {
  if (typeof wanted === 'object') {
    if (![aud].flat().includes(wanted.is)) refuse("The token's aud claim does not include the source's audience");
  } else if (wanted !== undefined) {
    const isForUs = aud === undefined ? wanted !== 'required' : aud === request.url();
    if (!isForUs) refuse("The token's aud claim is missing or is not the URL of the request");
  }
}

function isSender(claims: JWTPayload, name: string, secret: string): boolean {
  const { [name]: sender, [`${name}_verified`]: isVerified } = claims;
  return typeof sender === 'string' && isVerified === true && isSameSecret(sender, secret);
}

/** @throws VerificationRefusal unless the token is the provider's, and has not expired; KeysAwayError */
async function requireToken(
  token: string,
  scheme: JwtScheme,
  secret: string,
  { request, keys }: { request: RawRequest; keys: PublishedKeys },
): Promise<void> {
  const options = {
    algorithms: [scheme.algorithm],
    currentDate: new Date(request.nowMs),
    clockTolerance: CLOCK_SECONDS,
    ...(scheme.issuers && { issuer: [...scheme.issuers] }),
    ...(scheme.bodyHash === undefined && { requiredClaims: ['exp'] }),
  };
  try {
    await jwtVerify(token, (header: JWTHeaderParameters) => keyOf(header, scheme, secret, keys), options);
  } catch (error) {
    throw error instanceof errors.JOSEError ? new VerificationRefusal(reasonOf(error), false) : error;
  }
}

const NO_KEY = 'The token has no valid key ID, or the sender has no suitable key with this ID';

async function keyOf(
  { kid }: JWTHeaderParameters,
  scheme: JwtScheme,
  secret: string,
  keys: PublishedKeys,
): Promise<KeyObject | Uint8Array> {
  if (scheme.keys === 'secret') return new TextEncoder().encode(secret);
  if (typeof kid !== 'string' || !KEY_ID.test(kid)) return refuse(NO_KEY);
  const found = await keys.key(scheme.keys === 'plaid' ? plaidKey(secret, kid) : keySet(scheme.keys.jwks), kid);
  const isOfKind = scheme.algorithm === 'ES256' ? isP256 : isRsa;
  return found !== null && isOfKind(found.key) ? found.key : refuse(NO_KEY);
}

// There is always something at a fixed address.
const keySet = (url: string): KeyDocument => ({
  ...{ url, isNamedByWebhook: false, read: readKeySet },
  isNone: () => false,
});

function reasonOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired';
  if (error instanceof errors.JWTClaimValidationFailed)
    return 'The token is from a different issuer, does not expire, or is not valid yet';
  if (error instanceof errors.JOSEAlgNotAllowed)
    return 'The token is not signed with the algorithm that the source expects';
  return "The token's signature is invalid";
}

/** A token by HS256 (RFC 7518, section 3.2) that is good for five minutes. */
function sharedToken(scheme: JwtScheme, secret: string, { url, body, nowMs }: Unsigned): string {
  const { audience, issuers, bodyHash } = scheme;
  const issuedAt = Math.floor(nowMs / 1000);
  const claims = {
    ...{ aud: typeof audience === 'object' ? audience.is : url, iat: issuedAt, exp: issuedAt + 300 },
    ...(issuers !== undefined && { iss: issuers[0] }),
    ...scheme.claims,
    ...(bodyHash !== undefined && { [bodyHash]: createHash('sha256').update(body).digest('hex') }),
  };
  const signed = [{ alg: 'HS256', typ: 'JWT' }, claims].map((part) => jsonBytes(part).toString('base64url')).join('.');
  return `${signed}.${hmac('sha256', secret, signed).toString('base64url')}`;
}

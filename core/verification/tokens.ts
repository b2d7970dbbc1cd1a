// Providers that do not sign: they send a secret that they share with the source. It proves nothing about the body, and is taken out
// of what is stored and forwarded (withoutSecrets).
import { lookupPath } from '../text/dotted-path.ts';
import { readPayload, readShortFields } from '../forms/index.ts';
import { header, isSameSecret, type Verification } from '../signatures/scheme.ts';
import { type Credentials, headerOf, memberOf, type ProviderRequest, refused, untrustedJson } from './request.ts';

/** A token in a header, alone or behind a prefix such as `Bearer `. */
export interface HeaderTokenScheme {
  kind: 'header-token';
  header: string;
  prefix?: string;
}
/** `Authorization: Basic`; the secret is `user:password`. */
export interface BasicScheme {
  kind: 'basic';
}
/** A token in the query of the address that the provider was given. */
export interface QueryTokenScheme {
  kind: 'query-token';
  parameter: string;
}
/** A token in each item of a list in the JSON body. */
export interface BodyTokenScheme {
  kind: 'body-token';
  list: string;
  member: string;
}
export type TokenScheme = HeaderTokenScheme | BasicScheme | QueryTokenScheme | BodyTokenScheme;
/** A token at a path of the payload, JSON or a form. */
export interface PayloadTokenScheme {
  kind: 'payload-token';
  path: string;
}

const GENUINE: Verification = { valid: true, mac: null };
const WRONG = refused('The token is not that of the source');
const MAX_ITEMS = 1000;
/** Of JSON in which an owner says that there is a token: a stranger's is parsed. */
const MAX_TOKEN_BODY_BYTES = 256 * 1024;
// Microsoft Graph sends up to a hundred notifications or so together.
const MAX_LIST_BYTES = 256 * 1024;

export function verifyHeaderToken(scheme: HeaderTokenScheme, { secret }: Credentials, request: ProviderRequest) {
  const value = headerOf(request, scheme.header);
  if (typeof value !== 'string') return value;
  const { prefix = '' } = scheme;
  // RFC 9110, section 11.1: the name of an authentication scheme ignores case, and any number of spaces may follow it.
  const isBehind = value.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase();
  const given = prefix.endsWith(' ') ? value.slice(prefix.length).trimStart() : value.slice(prefix.length);
  return isSameSecret(given, secret) && isBehind ? GENUINE : WRONG;
}

export function verifyBasic(_scheme: BasicScheme, { secret }: Credentials, request: ProviderRequest): Verification {
  const value = headerOf(request, 'Authorization');
  if (typeof value !== 'string') return value;
  const [, given] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(value) ?? [];
  if (given === undefined) return refused('The header Authorization holds no user and password');
  return isSameSecret(Buffer.from(given, 'base64').toString('utf8'), secret) ? GENUINE : WRONG;
}

/** What is wrong with a secret of `basic`; null when it is one. RFC 7617, section 2: no colon in the user. */
export const basicProblem = (secret: string): string | null =>
  /^[^:]+:./s.test(secret) ? null : 'must be the user, a colon and the password';

export function verifyQueryToken({ parameter }: QueryTokenScheme, { secret }: Credentials, request: ProviderRequest) {
  const values = request.query().getAll(parameter);
  if (values.length > 1) return refused(`The address has the parameter ${parameter} more than once`);
  const [value] = values;
  if (value === undefined) return refused(`The address has no parameter ${parameter}`);
  return isSameSecret(value, secret) ? GENUINE : WRONG;
}

export function verifyBodyToken(scheme: BodyTokenScheme, { secret }: Credentials, request: ProviderRequest) {
  const items = memberOf(untrustedJson(request, MAX_LIST_BYTES), scheme.list);
  if (!Array.isArray(items) || items.length === 0 || items.length > MAX_ITEMS)
    return refused(`The body has no list ${scheme.list} with a ${scheme.member} in each item`);
  for (const item of items) {
    const value = memberOf(item, scheme.member);
    if (typeof value !== 'string' || !isSameSecret(value, secret)) return WRONG;
  }
  return GENUINE;
}

export function verifyPayloadToken({ path }: PayloadTokenScheme, { secret }: Credentials, request: ProviderRequest) {
  const form = readShortFields(request.body, header(request, 'content-type'));
  if (form === null && request.body.length > MAX_TOKEN_BODY_BYTES)
    return refused(`The body is larger than ${MAX_TOKEN_BODY_BYTES} bytes, which are read for a token, and no form`);
  const [value, ...others] = lookupPath(form ?? readPayload(request.body, undefined), path);
  if (typeof value !== 'string' || others.length > 0) return refused(`The body has no token at ${path}`);
  return isSameSecret(value, secret) ? GENUINE : WRONG;
}

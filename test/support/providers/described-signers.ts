// Senders that no provider of the registry is: how each signs, written apart from core/verification, and the
// `verificationConfig` that describes it.
import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { Json } from '../api-client.ts';
import { type Message, type SentMessage, seconds, shared, sharedAs, type Signer } from './signer.ts';
import { tokenOf } from './published-signers.ts';

export interface DescribedSigner extends Pick<Signer, 'seconds' | 'covers'> {
  /** What the owner enters, but for the secret. */
  config: Json & { type: string };
  /** Undefined: the sender publishes its keys. */
  secret: () => { secret: string | undefined; key: string | KeyObject };
  sign: (message: Message, key: string | KeyObject) => SentMessage;
  /** Those that are refused when they come twice, are missing or empty. */
  headers: readonly string[];
}

export const JWKS_ADDRESS = 'issuer.example.com/keys';
const AUDIENCE = 'urn:shop';

const pair = (keys: { publicKey: KeyObject; privateKey: KeyObject }, format: 'pem' | 'der' | 'raw') => {
  const der = keys.publicKey.export({ format: 'der', type: 'spki' });
  const secret = {
    pem: () => keys.publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    der: () => der.toString('base64'),
    raw: () => der.subarray(-32).toString('hex'),
  }[format]();
  return { secret, key: keys.privateKey };
};
const hash = (body: Buffer) => createHash('sha256').update(body).digest('hex');
const bodyOf = ({ body }: Message, ...before: string[]) => Buffer.concat([Buffer.from(before.join('')), body]);

export function hs256(claims: object, key: string, header: object = { alg: 'HS256' }): string {
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

export const describedSigners: Readonly<Record<string, DescribedSigner>> = {
  'an HMAC of time and body in named parts': {
    config: {
      ...{ type: 'hmac_template', header: 'X-Sender-Signature', template: '{timestamp}.{body}' },
      ...{ signaturePart: 'v1', timestampPart: 't', toleranceSeconds: 120 },
    },
    ...{ secret: shared, seconds: 120 },
    headers: ['x-sender-signature'],
    sign: (message, key) => {
      const mac = createHmac('sha256', key as string).update(bodyOf(message, seconds(message), '.'));
      return { headers: { 'x-sender-signature': `t=${seconds(message)},v1=00,v1=${mac.digest('hex')},v0=x` } };
    },
  },
  'an HMAC of method, address, id, time and body in base64url': {
    config: {
      ...{ type: 'hmac_template', algorithm: 'sha512', encoding: 'base64url', secretEncoding: 'base64' },
      ...{ header: 'X-Sender-Mac', prefix: 'v2=', listSeparator: ' ', idHeader: 'X-Sender-Id' },
      ...{ timestampHeader: 'X-Sender-Time', timestampUnit: 'ms' },
      template: 'v2:{method}:{url}\n{id}\n{timestamp}\n{body}',
    },
    secret: sharedAs(() => randomBytes(32).toString('base64')),
    ...{ covers: 'address', seconds: 300 },
    headers: ['x-sender-mac', 'x-sender-id', 'x-sender-time'],
    sign: (message, key) => {
      const signed = bodyOf(message, `v2:POST:${message.url}\nm-1\n${message.nowMs}\n`);
      const mac = createHmac('sha512', Buffer.from(key as string, 'base64')).update(signed);
      const named = { 'x-sender-id': 'm-1', 'x-sender-time': String(message.nowMs) };
      return { headers: { 'x-sender-mac': `v1=x v2=${mac.digest('base64url')}`, ...named } };
    },
  },
  'an HMAC with a key in hex': {
    config: { type: 'hmac_template', algorithm: 'sha1', encoding: 'base64', secretEncoding: 'hex', header: 'X-Mac' },
    secret: shared,
    headers: ['x-mac'],
    sign: ({ body }, key) => {
      const mac = createHmac('sha1', Buffer.from(key as string, 'hex')).update(body);
      return { headers: { 'x-mac': mac.digest('base64') } };
    },
  },
  'ECDSA as DER in base64': {
    config: {
      ...{ type: 'public_key', algorithm: 'ecdsa', header: 'X-Sender-Signature', template: '{timestamp}{body}' },
      ...{ timestampHeader: 'X-Sender-Time', timestampUnit: 'rfc3339' },
    },
    secret: () => pair(generateKeyPairSync('ec', { namedCurve: 'prime256v1' }), 'pem'),
    seconds: 300,
    headers: ['x-sender-signature', 'x-sender-time'],
    sign: (message, key) => {
      const time = new Date(message.nowMs).toISOString();
      const signature = sign('sha256', bodyOf(message, time), key as KeyObject).toString('base64');
      return { headers: { 'x-sender-signature': signature, 'x-sender-time': time } };
    },
  },
  'ECDSA as two numbers in base64url': {
    config: { type: 'public_key', algorithm: 'ecdsa', header: 'X-Sender-Signature', encoding: 'base64url' },
    secret: () => pair(generateKeyPairSync('ec', { namedCurve: 'prime256v1' }), 'der'),
    headers: ['x-sender-signature'],
    sign: ({ body }, key) => {
      const signature = sign('sha256', body, { key: key as KeyObject, dsaEncoding: 'ieee-p1363' });
      return { headers: { 'x-sender-signature': signature.toString('base64url') } };
    },
  },
  'Ed25519 in hex': {
    config: { type: 'public_key', algorithm: 'ed25519', header: 'X-Sender-Signature', encoding: 'hex' },
    secret: () => pair(generateKeyPairSync('ed25519'), 'raw'),
    headers: ['x-sender-signature'],
    sign: ({ body }, key) => ({
      headers: { 'x-sender-signature': sign(null, body, key as KeyObject).toString('hex') },
    }),
  },
  RSA: {
    config: { type: 'public_key', algorithm: 'rsa', header: 'X-Sender-Signature' },
    secret: () => pair(generateKeyPairSync('rsa', { modulusLength: 2048 }), 'pem'),
    headers: ['x-sender-signature'],
    sign: ({ body }, key) => ({
      headers: { 'x-sender-signature': sign('sha256', body, key as KeyObject).toString('base64') },
    }),
  },
  'a JSON Web Token by a shared secret, with the hash of the body': {
    config: { type: 'jwt', algorithm: 'HS256', header: 'X-Token', bodyHashClaim: 'body_sha256' },
    ...{ secret: shared, seconds: 300 },
    headers: ['x-token'],
    sign: ({ body, nowMs }, key) => ({
      headers: { 'x-token': hs256({ iat: Math.floor(nowMs / 1000), body_sha256: hash(body) }, key as string) },
    }),
  },
  'a JSON Web Token by a published key': {
    config: {
      ...{ type: 'jwt', algorithm: 'ES256', jwksUrl: `https://${JWKS_ADDRESS}`, issuer: 'https://issuer.example.com' },
      ...{ audience: AUDIENCE, claims: { shop: 'one' }, toleranceSeconds: 600 },
    },
    secret: () => ({ secret: undefined, key: generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey }),
    ...{ covers: 'nothing', seconds: 600 },
    headers: ['authorization'],
    sign: (message, key) => ({ headers: { authorization: `Bearer ${publishedToken(message, key as KeyObject)}` } }),
  },
  'a token in a header': {
    config: { type: 'header_token', header: 'X-Sender-Token', prefix: 'Token ' },
    ...{ secret: shared, covers: 'nothing' },
    headers: ['x-sender-token'],
    sign: (_message, key) => ({ headers: { 'x-sender-token': `Token ${String(key)}` } }),
  },
  'user and password': {
    config: { type: 'basic' },
    secret: sharedAs(() => `shop:${randomBytes(12).toString('hex')}`),
    covers: 'nothing',
    headers: ['authorization'],
    sign: (_message, key) => ({ headers: { authorization: `Basic ${Buffer.from(key as string).toString('base64')}` } }),
  },
  'a token in the query': {
    config: { type: 'query_token', parameter: 'key' },
    ...{ secret: shared, covers: 'nothing' },
    headers: [],
    sign: (_message, key) => ({ headers: {}, query: `key=${String(key)}` }),
  },
  'a token in JSON': {
    config: { type: 'body_token', path: '$.auth.token' },
    ...{ secret: shared, covers: 'nothing' },
    headers: [],
    sign: ({ body }, key) => ({
      headers: {},
      body: Buffer.from(JSON.stringify({ ...(JSON.parse(body.toString()) as object), auth: { token: key } })),
    }),
  },
  'a token in a form': {
    config: { type: 'body_token', path: 'token' },
    ...{ secret: shared, covers: 'nothing' },
    headers: [],
    sign: (_message, key) => ({
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: Buffer.from(`text=hello&token=${String(key)}`),
    }),
  },
};

/** @param changes of claims */
export function publishedToken({ nowMs }: Pick<Message, 'nowMs'>, key: KeyObject, changes: object = {}): string {
  const iat = Math.floor(nowMs / 1000);
  const claims = { iss: 'https://issuer.example.com', aud: ['urn:other', AUDIENCE], shop: 'one', iat, exp: iat + 3600 };
  return tokenOf({ alg: 'ES256', kid: 'k1' }, { ...claims, ...changes }, key);
}

/** The set of keys at `JWKS_ADDRESS`. */
export const keySetOf = (publicKey: KeyObject): string =>
  JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'ES256' }] });

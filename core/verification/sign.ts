// Signs as a provider does, or as the owner of a source describes it, for `hookyard send`.
import { createHash, type KeyObject, sign as signWith } from 'node:crypto';
import { parsePath } from '../text/dotted-path.ts';
import { hmac } from '../signatures/scheme.ts';
import { signStandardWebhook } from '../signatures/standard-webhooks.ts';
import { adyenMac } from './adyen.ts';
import { braintreeForm } from './braintree.ts';
import { macOf } from './hmac.ts';
import { hook0Signature } from './hook0.ts';
import type { AnyScheme } from './index.ts';
import { type KeySignatureScheme, type PublicKeyScheme, signatureOf } from './public-key.ts';
import type { JwtScheme } from './published/jwt.ts';
import { jsonOf, memberOf, timeText } from './request.ts';
import { type SignatureTemplate, signedParts } from './template.ts';
import { TWILIO_HEADER, twilioMac } from './twilio.ts';

export interface Unsigned {
  /** The whole address to which it is sent. */
  url: string;
  body: Buffer;
  contentType: string;
  nowMs: number;
  /** Of the message, where it is signed. */
  id: string;
}

export interface Signed {
  headers: Record<string, string>;
  /** With what the provider adds to it. */
  body: Buffer;
  /** What the address has in its query. */
  query: Record<string, string>;
}

/** Signs a POST; null when that takes a private key (`signByKey`), or one of the provider, which nobody else has. */
export function signAs(scheme: AnyScheme, secret: string, unsigned: Unsigned): Signed | null {
  const { body, nowMs, id, url } = unsigned;
  const plain = { headers: {}, body, query: {} };
  switch (scheme.kind) {
    case 'hmac':
      return { ...plain, headers: templateHeaders(scheme, unsigned, (signed) => macOf(scheme, secret, signed)) };
    case 'standard': {
      if (secret.startsWith('whpk_')) return null;
      const signed = signStandardWebhook({ secrets: [secret], id, timestampSeconds: Math.floor(nowMs / 1000), body });
      const named = Object.entries(signed).map(([name, value]) => [
        name.replace(/^webhook-/, scheme.headerPrefix),
        value,
      ]);
      return { ...plain, headers: Object.fromEntries(named) as Record<string, string> };
    }
    case 'header-token':
      return { ...plain, headers: { [scheme.header]: (scheme.prefix ?? '') + secret } };
    case 'basic':
      return { ...plain, headers: { Authorization: `Basic ${Buffer.from(secret).toString('base64')}` } };
    case 'query-token':
      return { ...plain, query: { [scheme.parameter]: secret } };
    case 'body-token': {
      const parsed = jsonOf(body);
      const items = memberOf(parsed, scheme.list);
      const list = (Array.isArray(items) ? (items as object[]) : []).map((item) => ({
        ...item,
        [scheme.member]: secret,
      }));
      return { ...plain, body: jsonBytes({ ...(parsed as object), [scheme.list]: list }) };
    }
    case 'mailgun': {
      const timestamp = timeText(nowMs, 's');
      const token = id.padEnd(50, '0').slice(0, 50);
      const signed = { timestamp, token, signature: hmac('sha256', secret, timestamp + token).toString('hex') };
      return { ...plain, body: jsonBytes({ signature: signed, ...(jsonOf(body) as object) }) };
    }
    case 'twilio': {
      const form = unsigned.contentType.startsWith(FORM) ? body : null;
      return {
        ...plain,
        headers: { [scheme.header ?? TWILIO_HEADER]: twilioMac(secret, url, form).toString('base64') },
      };
    }
    case 'adyen':
      return { ...plain, body: adyenBody(secret, body) };
    case 'braintree':
      return { ...plain, body: Buffer.from(braintreeForm(secret, body)) };
    case 'websub':
      return { ...plain, headers: { 'X-Hub-Signature': `sha256=${hmac('sha256', secret, body).toString('hex')}` } };
    case 'hook0': {
      // It signs its content type, as it is sent.
      const signed = { time: timeText(nowMs, 's'), headers: { 'content-type': unsigned.contentType }, body };
      return { ...plain, headers: { [scheme.header]: hook0Signature(secret, signed) } };
    }
    case 'jwt':
      return scheme.keys === 'secret'
        ? { ...plain, headers: { [scheme.header]: sharedToken(scheme, secret, unsigned) } }
        : null;
    case 'payload-token':
      return { ...plain, body: withToken(scheme.path, secret, unsigned) };
    case 'public-key':
    case 'key-signature':
    case 'sns':
    case 'paypal':
      return null;
  }
}

const FORM = 'application/x-www-form-urlencoded';

function withFields(form: Buffer, fields: Record<string, string>): Buffer {
  const more = new URLSearchParams(fields).toString();
  return Buffer.from(form.length === 0 ? more : `${form.toString()}&${more}`);
}

const jsonBytes = (value: object): Buffer => Buffer.from(JSON.stringify(value));

/** The same with a private key whose public one the source has. */
export function signByKey(scheme: PublicKeyScheme | KeySignatureScheme, key: KeyObject, unsigned: Unsigned): Signed {
  const template = scheme.kind === 'public-key' ? signatureOf(scheme) : scheme;
  const hash = scheme.algorithm === 'ed25519' ? null : 'sha256';
  const bytesOf = (signed: (string | Buffer)[]) => Buffer.concat(signed.map((part) => Buffer.from(part as string)));
  const headers = templateHeaders(template, unsigned, (signed) => signWith(hash, bytesOf(signed), key));
  return { headers, body: unsigned.body, query: {} };
}

function templateHeaders(
  scheme: SignatureTemplate,
  { url, body, nowMs, id }: Unsigned,
  sign: (signed: (string | Buffer)[]) => Buffer,
): Record<string, string> {
  const timestamp = scheme.timestamp === undefined ? '' : timeText(nowMs, scheme.timestamp.unit);
  const request = { method: 'POST', url: () => url, body };
  const signature = sign(signedParts(scheme, { timestamp, id, request })).toString(scheme.encoding);
  const { named, prefix = '' } = scheme;
  const parts = named && [
    ...(named.timestamp === undefined ? [] : [`${named.timestamp}=${timestamp}`]),
    `${named.signature}=${signature}`,
  ];
  return {
    [scheme.header]: named && parts ? parts.join(named.separator) : prefix + signature,
    ...(scheme.timestamp?.header !== undefined && { [scheme.timestamp.header]: timestamp }),
    ...(scheme.idHeader !== undefined && { [scheme.idHeader]: id }),
  };
}

function adyenBody(secret: string, body: Buffer): Buffer {
  const parsed = jsonOf(body);
  const items = memberOf(parsed, 'notificationItems');
  const signed = (Array.isArray(items) ? (items as unknown[]) : []).map((each) => {
    const item = memberOf(each, 'NotificationRequestItem') as object;
    const hmacSignature = adyenMac(secret, item)?.toString('base64');
    const additionalData = { ...(memberOf(item, 'additionalData') as object), hmacSignature };
    return { NotificationRequestItem: { ...item, additionalData } };
  });
  return jsonBytes({ ...(parsed as object), notificationItems: signed });
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

/** The body with the token at a path: as a field of a form, else as a member of JSON. */
function withToken(path: string, secret: string, { body, contentType }: Unsigned): Buffer {
  const names = (parsePath(path) ?? []).flatMap((step) => ('key' in step ? [step.key] : []));
  if (contentType.startsWith(FORM)) return withFields(body, { [names.join('.')]: secret });
  const put = (value: unknown, [name, ...deeper]: string[]): unknown =>
    name === undefined ? secret : { ...(value as object), [name]: put(memberOf(value, name), deeper) };
  return jsonBytes(put(jsonOf(body), names) as object);
}

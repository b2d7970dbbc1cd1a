// Signs as a provider does, for `hookyard send`.
import { hmac } from '../signatures/scheme.ts';
import { signStandardWebhook } from '../signatures/standard-webhooks.ts';
import { adyenMac } from './adyen.ts';
import { braintreeForm } from './braintree.ts';
import { type HmacScheme, macOf } from './hmac.ts';
import { hook0Signature } from './hook0.ts';
import type { Scheme } from './index.ts';
import { jsonOf, memberOf, timeText } from './request.ts';
import { twilioMac } from './twilio.ts';

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

/** Signs a POST; null when that takes the private key of the provider, which nobody else has. */
export function signAs(scheme: Scheme, secret: string, unsigned: Unsigned): Signed | null {
  const { body, nowMs, id, url } = unsigned;
  const plain = { headers: {}, body, query: {} };
  switch (scheme.kind) {
    case 'hmac':
      return { ...plain, headers: hmacHeaders(scheme, secret, unsigned) };
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
      const signature = hmac('sha256', secret, timestamp + token).toString('hex');
      return {
        ...plain,
        body: jsonBytes({ signature: { timestamp, token, signature }, ...(jsonOf(body) as object) }),
      };
    }
    case 'twilio': {
      const form = unsigned.contentType.startsWith('application/x-www-form-urlencoded') ? body : null;
      return { ...plain, headers: { 'X-Twilio-Signature': twilioMac(secret, url, form).toString('base64') } };
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
        ? { ...plain, headers: { [scheme.header]: sharedToken(secret, unsigned) } }
        : null;
    case 'public-key':
    case 'sns':
    case 'paypal':
      return null;
  }
}

const jsonBytes = (value: object): Buffer => Buffer.from(JSON.stringify(value));

function hmacHeaders(scheme: HmacScheme, secret: string, { url, body, nowMs, id }: Unsigned): Record<string, string> {
  const timestamp = scheme.timestamp === undefined ? '' : timeText(nowMs, scheme.timestamp.unit);
  const request = { method: 'POST', url: () => url, body };
  const signature = macOf(scheme, secret, { timestamp, id, request }).toString(scheme.encoding);
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
function sharedToken(secret: string, { url, nowMs }: Unsigned): string {
  const issuedAt = Math.floor(nowMs / 1000);
  const claims = { aud: url, iat: issuedAt, exp: issuedAt + 300 };
  const signed = [{ alg: 'HS256', typ: 'JWT' }, claims].map((part) => jsonBytes(part).toString('base64url')).join('.');
  return `${signed}.${hmac('sha256', secret, signed).toString('base64url')}`;
}

// Senders that sign some values, and put the signature into the body. The rest of the body is not signed.
import { createHash } from 'node:crypto';
import { readShortFields } from '../forms/forms.ts';
import {
  header,
  hmac,
  includesMac,
  isSameSecret,
  jsonBytes,
  jsonOf,
  memberOf,
  refuse,
  requireMac,
  requireTime,
  type SchemeKind,
  timeText,
  untrustedJson,
} from './scheme.ts';

const MAX_BODY_BYTES = 256 * 1024;

// A webhook of Adyen has one item, or a few from older interfaces.
const MAX_ITEMS = 100;
const NOT_SIGNED = `The body must contain 1 to ${MAX_ITEMS} notificationItems, each with an hmacSignature and signed values that are strings or numbers`;

/**
 * Adyen, "Verify HMAC signatures": each item of a standard webhook has the HMAC-SHA256 of eight of its values, with
 * colons between, in base64.
 * https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures
 */
export const adyenKind: SchemeKind<{ kind: 'adyen' }> = {
  verify(_scheme, { secret }, request) {
    const items = memberOf(untrustedJson(request, MAX_BODY_BYTES), 'notificationItems');
    if (!Array.isArray(items) || items.length === 0 || items.length > MAX_ITEMS) return refuse(NOT_SIGNED);
    const macs = createHash('sha256');
    for (const each of items as unknown[]) {
      const item = memberOf(each, 'NotificationRequestItem');
      const signature = memberOf(memberOf(item, 'additionalData'), 'hmacSignature');
      const mac = adyenMac(secret, item);
      if (mac === null || typeof signature !== 'string') return refuse(NOT_SIGNED);
      macs.update(requireMac([signature], 'base64', mac, false));
    }
    return macs.digest();
  },
  sign(_scheme, secret, { body }) {
    const parsed = jsonOf(body) as object;
    const items = memberOf(parsed, 'notificationItems');
    const signed = (Array.isArray(items) ? (items as unknown[]) : []).map((each) => {
      const item = memberOf(each, 'NotificationRequestItem') as object;
      const hmacSignature = adyenMac(secret, item)?.toString('base64');
      const additionalData = { ...(memberOf(item, 'additionalData') as object), hmacSignature };
      return { NotificationRequestItem: { ...item, additionalData } };
    });
    return { body: jsonBytes({ ...parsed, notificationItems: signed }) };
  },
  secretProblem: (_scheme, secret) =>
    /^(?:[0-9a-f]{2}){16,128}$/i.test(secret) ? null : 'must be the HMAC key: 32 to 256 hex digits, two for each byte',
};

/** Null: a value is neither text nor a number. */
function adyenMac(secret: string, item: unknown): Buffer | null {
  const amount = memberOf(item, 'amount');
  const of = (name: string) => memberOf(item, name);
  const values = [
    ...[of('pspReference'), of('originalReference'), of('merchantAccountCode'), of('merchantReference')],
    ...[memberOf(amount, 'value'), memberOf(amount, 'currency'), of('eventCode'), of('success')],
  ];
  const texts = values.map((value) => (typeof value === 'number' ? String(value) : (value ?? '')));
  if (!texts.every((text) => typeof text === 'string')) return null;
  return hmac('sha256', Buffer.from(secret, 'hex'), texts.join(':'));
}

const MAX_PAIRS = 4;
const CHALLENGE = /^[0-9a-f]{20,32}$/;
const XML = Buffer.from('<');

/**
 * Braintree: a form with `bt_payload`, which is XML in base64, and `bt_signature`, its HMAC-SHA1 behind the public key.
 * The key of the HMAC is the SHA-1 of the private key. Read in Braintree's own library:
 * https://github.com/braintree/braintree_node/blob/master/lib/braintree/webhook_notification_gateway.js
 */
export const braintreeKind: SchemeKind<{ kind: 'braintree' }> = {
  verify(_scheme, { secret }, request) {
    if (request.body.length > MAX_BODY_BYTES) refuse('The form is larger than any form that Braintree sends');
    const form = request.parsed(formOf);
    const [payload, ...others] = form.getAll('bt_payload');
    const [signature, ...more] = form.getAll('bt_signature');
    if (payload === undefined || signature === undefined || others.length + more.length > 0)
      return refuse('The body is not a form with exactly one bt_payload and one bt_signature');
    // The answer to a challenge, which anyone may ask for, is the signature of a short text of hex digits. That is no
    // XML.
    if (!/^[A-Za-z0-9+/=\n]+$/.test(payload) || !Buffer.from(payload, 'base64').subarray(0, 1).equals(XML))
      refuse('The bt_payload field is not base64-encoded XML');
    const [publicKey = '', privateKey = ''] = secret.split(':');
    const ours = signature
      .split('&')
      .slice(0, MAX_PAIRS)
      .map((pair) => pair.split('|'))
      .filter(([name = '']) => isSameSecret(name, publicKey))
      .map(([, mac = '']) => mac);
    const mac = braintreeMac(privateKey, payload);
    if (includesMac(ours, 'hex', mac)) return mac;
    return requireMac(ours, 'hex', braintreeMac(privateKey, `${payload}\n`), false);
  },
  sign(_scheme, secret, { body }) {
    const [publicKey = '', privateKey = ''] = secret.split(':');
    const payload = `${body.toString('base64')}\n`;
    const signature = `${publicKey}|${braintreeMac(privateKey, payload).toString('hex')}`;
    return { body: Buffer.from(new URLSearchParams({ bt_signature: signature, bt_payload: payload }).toString()) };
  },
  secretProblem: (_scheme, secret) =>
    /^[\w-]{4,128}:[\w-]{8,256}$/.test(secret)
      ? null
      : 'must be the public key and the private key, separated by a colon',
};

const formOf = (body: Buffer) => new URLSearchParams(body.toString('latin1'));
const braintreeMac = (privateKey: string, text: string): Buffer =>
  hmac('sha1', createHash('sha1').update(privateKey).digest(), text);

/** What Braintree wants to have back when it asks whether an address is the owner's; null when it does not ask. */
export function braintreeAnswer(secret: string, challenge: string | null): string | null {
  if (challenge === null || !CHALLENGE.test(challenge)) return null;
  const [publicKey = '', privateKey = ''] = secret.split(':');
  return `${publicKey}|${braintreeMac(privateKey, challenge).toString('hex')}`;
}

// Mailgun gives no limit. It repeats a webhook that was not accepted for eight hours with the same signature, so the
// limit is that.
const MAILGUN_TIME = { unit: 's', toleranceSeconds: 9 * 3600 } as const;
const MAX_TOKEN = 256;

/**
 * Mailgun, "Securing webhooks": the body holds a time, a token, and the HMAC-SHA256 of both in hex. In the JSON of a
 * webhook they are the member `signature`; in the mail that a route forwards they are fields of a form, in parts if the
 * mail has attachments, and the form may be as large as the payload limit.
 * https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks
 * https://documentation.mailgun.com/docs/mailgun/user-manual/receive-forward-store/receive-http
 */
export const mailgunKind: SchemeKind<{ kind: 'mailgun' }> = {
  verify(_scheme, { secret }, request) {
    const form = readShortFields(request.body, header(request, 'content-type'));
    const part = form ?? memberOf(untrustedJson(request, MAX_BODY_BYTES), 'signature');
    const [timestamp, token, signature] = ['timestamp', 'token', 'signature'].map((name) => memberOf(part, name));
    if (typeof token !== 'string' || token.length > MAX_TOKEN || typeof signature !== 'string')
      return refuse('The token or the signature is missing from the body');
    const time = typeof timestamp === 'number' ? String(timestamp) : timestamp;
    requireTime(typeof time === 'string' ? time : '', MAILGUN_TIME, request.nowMs);
    return requireMac([signature], 'hex', hmac('sha256', secret, `${time}${token}`), false);
  },
  sign(_scheme, secret, { body, nowMs, id }) {
    const timestamp = timeText(nowMs, 's');
    const token = id.padEnd(50, '0').slice(0, 50);
    const signature = { timestamp, token, signature: hmac('sha256', secret, timestamp + token).toString('hex') };
    return { body: jsonBytes({ signature, ...(jsonOf(body) as object) }) };
  },
};

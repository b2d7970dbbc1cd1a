// Providers whose webhooks name a certificate that the provider serves, and are signed with its key.
import { createHash, type KeyObject, verify, X509Certificate } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { isRsa, type KeySet, type PublishedKeys } from './published-keys.ts';
import {
  type Credentials,
  headerOf,
  isSameSecret,
  memberOf,
  type RawRequest,
  refuse,
  requireTime,
  type SchemeKind,
  untrustedJson,
} from './scheme.ts';

const SIGNATURE = /^[A-Za-z0-9+/]{300,1400}={0,2}$/;
const CERTIFICATE = 'certificate';
// Stores of files answer 403 for a file that is not there.
const NO_FILE = [403, 404, 410];

/** Null: there is none, or it is not valid at this time. @throws KeysAwayError */
async function certificateKey(keys: PublishedKeys, url: string, nowMs: number): Promise<KeyObject | null> {
  const isNone = (status: number) => NO_FILE.includes(status);
  const found = await keys.key({ url, isNamedByWebhook: true, read: readCertificate, isNone }, CERTIFICATE);
  if (found?.valid === undefined) return null;
  const { fromMs, toMs } = found.valid;
  return fromMs <= nowMs && nowMs <= toMs ? found.key : null;
}

function readCertificate(text: string): KeySet | null {
  try {
    const { publicKey: key, validFromDate, validToDate } = new X509Certificate(text);
    const valid = { fromMs: validFromDate.getTime(), toMs: validToDate.getTime() };
    return isRsa(key) ? new Map([[CERTIFICATE, { key, valid }]]) : null;
  } catch {
    return null;
  }
}

const TOPIC_HEADER = 'x-amz-sns-topic-arn';
// 256 KiB of a message, whose every character may be escaped, and what stands around it.
const MAX_MESSAGE_BYTES = 640 * 1024;
// SNS sends a message again for at most 3,600 seconds:
// https://docs.aws.amazon.com/sns/latest/dg/sns-message-delivery-retries.html
const SNS_TIME = { unit: 'rfc3339', toleranceSeconds: 3900 } as const;

const OF_NOTIFICATION = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'];
const OF_CONFIRMATION = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
const SIGNED: Readonly<Record<string, readonly string[]>> = {
  Notification: OF_NOTIFICATION,
  SubscriptionConfirmation: OF_CONFIRMATION,
  UnsubscribeConfirmation: OF_CONFIRMATION,
};
const HASHES: Readonly<Record<string, string>> = { '1': 'sha1', '2': 'sha256' };

const ARN = /^arn:(aws[a-z-]{0,8}):sns:([a-z]{2}(?:-[a-z]{1,12}){1,3}-\d{1,2}):\d{12}:[\w.-]{1,260}$/;

function hostOf(topic: string): string {
  const [, partition, region = 'unknown'] = ARN.exec(topic) ?? [];
  return `sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}`;
}

/** An address of a message, where it is one of the host of the topic; else null. */
function addressOf(text: unknown, topic: string): URL | null {
  if (typeof text !== 'string' || text.length > 2048) return null;
  const url = URL.parse(text);
  // Nothing that another program could read in another way.
  if (url === null || url.href !== text || url.username !== '' || url.hash !== '') return null;
  return url.protocol === 'https:' && url.host === hostOf(topic) ? url : null;
}

const CERTIFICATE_PATH = /^\/SimpleNotificationService-[0-9a-f]{32}\.pem$/;

/**
 * Amazon SNS, "Verifying the signatures of Amazon SNS messages": the values of some members, each behind its name, are
 * signed. Anyone with an account at AWS can have SNS sign, so the topic has to be that of the source.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
 */
export const snsKind: SchemeKind<{ kind: 'sns' }> = {
  async verify(_scheme, { secret: topic }, request, keys) {
    // Before the body of a stranger is parsed.
    requireTopic(headerOf(request, TOPIC_HEADER), topic);
    const message = untrustedJson(request, MAX_MESSAGE_BYTES);
    const text = textOf(message);
    requireTopic(text('TopicArn'), topic);
    requireTime(text('Timestamp'), SNS_TIME, request.nowMs);
    const [hash, signed] = [HASHES[text('SignatureVersion')], signedOf(message)];
    if (hash === undefined || signed === null)
      return refuse('The message has an unknown type or signature version, or lacks a signed field');
    if (!SIGNATURE.test(text('Signature'))) refuse('The signature of the message is missing or malformed');
    const url = addressOf(text('SigningCertURL'), topic);
    if (url === null || !CERTIFICATE_PATH.test(url.pathname) || url.search !== '')
      return refuse("The certificate URL does not belong to Amazon SNS in the topic's region");
    const key =
      (await certificateKey(keys, url.href, request.nowMs)) ??
      refuse('No valid certificate was found at the URL in the message');
    if (!verify(hash, signed, key, Buffer.from(text('Signature'), 'base64')))
      refuse('The signature does not match the message');
    return createHash('sha256').update(signed).digest();
  },
  secretProblem: (_scheme, secret) =>
    ARN.test(secret) ? null : 'must be the topic ARN, for example arn:aws:sns:eu-central-1:123456789012:orders',
  needsPublishedKeys: () => true,
};

function requireTopic(named: string, topic: string): void {
  if (!isSameSecret(named, topic)) refuse('The message is from a different topic');
}

function textOf(message: unknown): (name: string) => string {
  return (name) => {
    const value = memberOf(message, name);
    return typeof value === 'string' ? value : '';
  };
}

/** Null: it lacks what is signed. */
function signedOf(message: unknown): Buffer | null {
  const type = textOf(message)('Type');
  const names = Object.hasOwn(SIGNED, type) ? SIGNED[type] : undefined;
  if (names === undefined) return null;
  const lines: string[] = [];
  for (const name of names) {
    const value = memberOf(message, name);
    // A message may have no subject.
    if (name === 'Subject' && (value === undefined || value === null)) continue;
    if (typeof value !== 'string') return null;
    lines.push(`${name}\n${value}\n`);
  }
  return Buffer.from(lines.join(''));
}

/**
 * Where the subscription of a verified message is confirmed; null when it asks for none.
 * https://docs.aws.amazon.com/sns/latest/dg/SendMessageToHttp.confirm.html
 */
export function confirmationOf({ secret: topic }: Credentials, request: RawRequest): string | null {
  if (!request.body.includes('SubscriptionConfirmation')) return null;
  const text = textOf(untrustedJson(request, MAX_MESSAGE_BYTES));
  if (text('Type') !== 'SubscriptionConfirmation') return null;
  const url = addressOf(text('SubscribeURL'), topic);
  if (url === null || url.pathname !== '/') return null;
  const isOurs = url.searchParams.get('TopicArn') === topic;
  return isOurs && url.searchParams.get('Action') === 'ConfirmSubscription' ? url.href : null;
}

const PAYPAL_HEADERS = [
  'PAYPAL-TRANSMISSION-ID',
  'PAYPAL-TRANSMISSION-TIME',
  'PAYPAL-TRANSMISSION-SIG',
  'PAYPAL-CERT-URL',
  'PAYPAL-AUTH-ALGO',
] as const;

const PAYPAL_CERTIFICATE =
  /^https:\/\/api(?:-m)?(?:\.sandbox)?\.paypal\.com\/v1\/notifications\/certs\/CERT-[0-9A-Za-z-]{1,128}$/;
const TRANSMISSION_ID = /^[\w-]{1,64}$/;
// PayPal sends a webhook that was not accepted again for three days, and does not say whether with another time.
const PAYPAL_TIME = { unit: 'rfc3339', toleranceSeconds: 3 * 86_400 } as const;

/**
 * PayPal, "Integrate webhooks", self-verification: the id and the time of the transmission, the id of the webhook, and
 * the CRC-32 of the body are signed. Others can make a body of the same CRC-32.
 * https://developer.paypal.com/api/rest/webhooks/rest/
 */
export const paypalKind: SchemeKind<{ kind: 'paypal' }> = {
  async verify(_scheme, { secret: webhookId }, request, keys) {
    const values = PAYPAL_HEADERS.map((name) => headerOf(request, name));
    const [id = '', time = '', signature = '', url = '', algorithm] = values;
    requireTime(time, PAYPAL_TIME, request.nowMs);
    if (algorithm !== 'SHA256withRSA' || !TRANSMISSION_ID.test(id) || !SIGNATURE.test(signature))
      refuse('The webhook has an unknown signature algorithm, or its signature or transmission ID is malformed');
    if (!PAYPAL_CERTIFICATE.test(url)) refuse('The certificate URL does not belong to PayPal');
    const key =
      (await certificateKey(keys, url, request.nowMs)) ??
      refuse('No valid certificate was found at the URL in the webhook');
    const signed = Buffer.from(`${id}|${time}|${webhookId}|${crc32(request.body)}`);
    if (!verify('sha256', signed, key, Buffer.from(signature, 'base64')))
      refuse("The signature does not match the body and the source's webhook ID");
    return createHash('sha256').update(signed).digest();
  },
  secretProblem: (_scheme, secret) =>
    /^[0-9A-Za-z]{16,50}$/.test(secret) ? null : 'must be the webhook ID: 16 to 50 letters and digits',
  secretHeaders: () => PAYPAL_HEADERS,
  needsPublishedKeys: () => true,
};

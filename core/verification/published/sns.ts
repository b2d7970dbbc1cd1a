// Amazon SNS, "Verifying the signatures of Amazon SNS messages": the values of some members, each behind its name, signed with the key of
// a certificate that SNS serves. Anyone with an account at AWS can have SNS sign, so the topic has to be that of the source.
// https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
import { createHash, verify } from 'node:crypto';
import { isSameSecret, type Verification } from '../../signatures/scheme.ts';
import { type Credentials, memberOf, type ProviderRequest, refused, timeProblem, untrustedJson } from '../request.ts';
import { CERTIFICATE, isValidAt, type PublishedKeys, readCertificate } from './keys.ts';

export interface SnsScheme {
  kind: 'sns';
}

// 256 KiB of a message, whose every character may be escaped, and what stands around it.
const MAX_BODY_BYTES = 640 * 1024;
// SNS sends a message again for at most 3,600 seconds:
// https://docs.aws.amazon.com/sns/latest/dg/sns-message-delivery-retries.html
const TOLERANCE_SECONDS = 3900;

const OF_NOTIFICATION = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'];
const OF_CONFIRMATION = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
const SIGNED: Readonly<Record<string, readonly string[]>> = {
  Notification: OF_NOTIFICATION,
  SubscriptionConfirmation: OF_CONFIRMATION,
  UnsubscribeConfirmation: OF_CONFIRMATION,
};
const HASHES: Readonly<Record<string, string>> = { '1': 'sha1', '2': 'sha256' };
const SIGNATURE = /^[A-Za-z0-9+/]{300,1400}={0,2}$/;

const ARN = /^arn:(aws[a-z-]*):sns:([a-z0-9-]{3,32}):\d{12}:[\w.-]{1,260}$/;

export const topicProblem = (secret: string): string | null =>
  ARN.test(secret) ? null : 'must be the ARN of the topic, such as arn:aws:sns:eu-central-1:123456789012:orders';

/** The host of SNS that serves a topic. */
function hostOf(topic: string): string {
  const [, partition, region = 'unknown'] = ARN.exec(topic) ?? [];
  return `sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}`;
}

const CERTIFICATE_PATH = /^\/SimpleNotificationService-[0-9a-f]{32}\.pem$/;

/** Whether an address of a message is what it says, on the host of the topic. */
function isAt(text: unknown, topic: string, isPath: (url: URL) => boolean): text is string {
  if (typeof text !== 'string' || text.length > 2048) return false;
  const url = URL.parse(text);
  // Nothing that a program could read in another way than this one.
  if (url === null || url.href !== text || url.username !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' && url.host === hostOf(topic) && isPath(url);
}

const isCertificate = ({ pathname, search }: URL) => CERTIFICATE_PATH.test(pathname) && search === '';
const isConfirmation = ({ pathname, searchParams }: URL) =>
  pathname === '/' && searchParams.get('Action') === 'ConfirmSubscription';

export async function verifySns(
  _scheme: SnsScheme,
  { secret: topic }: Credentials,
  request: ProviderRequest,
  keys: PublishedKeys,
): Promise<Verification> {
  const message = untrustedJson(request, MAX_BODY_BYTES);
  const text = (name: string): string => {
    const value = memberOf(message, name);
    return typeof value === 'string' ? value : '';
  };
  if (!isSameSecret(text('TopicArn'), topic)) return refused('The message is of another topic');
  const problem = timeProblem(
    text('Timestamp'),
    { unit: 'rfc3339', toleranceSeconds: TOLERANCE_SECONDS },
    request.nowMs,
  );
  if (problem !== null) return problem;
  const [hash, signed] = [HASHES[text('SignatureVersion')], signedOf(message)];
  if (hash === undefined || signed === null) return refused('The message is signed in a way that is not known');
  const url = memberOf(message, 'SigningCertURL');
  if (!isAt(url, topic, isCertificate)) return refused("The certificate is not at an address of the topic's SNS");
  if (!SIGNATURE.test(text('Signature'))) return refused('The message has no signature');
  const found = await keys.key({ url, isNamedByWebhook: true, read: readCertificate }, CERTIFICATE);
  if (found === null || !isValidAt(found, request.nowMs))
    return refused('There is no valid certificate at its address');
  if (!verify(hash, signed, found.key, Buffer.from(text('Signature'), 'base64')))
    return refused('The signature does not match the message');
  return { valid: true, mac: createHash('sha256').update(signed).digest() };
}

/** Null: it lacks what is signed. */
function signedOf(message: unknown): Buffer | null {
  const type = memberOf(message, 'Type');
  const names = typeof type === 'string' && Object.hasOwn(SIGNED, type) ? SIGNED[type] : undefined;
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

/** Where the subscription of a verified message is confirmed; null when it asks for none. */
export function confirmationOf({ secret: topic }: Credentials, request: ProviderRequest): string | null {
  if (!request.body.includes('SubscriptionConfirmation')) return null;
  const message = untrustedJson(request, MAX_BODY_BYTES);
  if (memberOf(message, 'Type') !== 'SubscriptionConfirmation') return null;
  const url = memberOf(message, 'SubscribeURL');
  return isAt(url, topic, isConfirmation) ? url : null;
}

// Amazon SNS, "Verifying the signatures of Amazon SNS messages": the values of some members, each behind its name, signed with the key of
// a certificate that SNS serves. Anyone with an account at AWS can have SNS sign, so the topic has to be that of the source.
// https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
import { createHash, verify } from 'node:crypto';
import { isSameSecret, type Verification } from '../../signatures/scheme.ts';
import {
  type Credentials,
  headerOf,
  memberOf,
  type ProviderRequest,
  refused,
  timeProblem,
  untrustedJson,
} from '../request.ts';
import { certificateKey, type PublishedKeys } from './keys.ts';

export interface SnsScheme {
  kind: 'sns';
}

const TOPIC_HEADER = 'x-amz-sns-topic-arn';
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

const ARN = /^arn:(aws[a-z-]{0,8}):sns:([a-z]{2}(?:-[a-z]{1,12}){1,3}-\d{1,2}):\d{12}:[\w.-]{1,260}$/;

/** What is wrong with what the owner enters; null when nothing is. */
export const topicProblem = (secret: string): string | null =>
  ARN.test(secret) ? null : 'must be the ARN of the topic, such as arn:aws:sns:eu-central-1:123456789012:orders';

/** The host of SNS that serves a topic. */
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

export async function verifySns(
  _scheme: SnsScheme,
  { secret: topic }: Credentials,
  request: ProviderRequest,
  keys: PublishedKeys,
): Promise<Verification> {
  const named = headerOf(request, TOPIC_HEADER);
  if (typeof named !== 'string') return named;
  // Before the body of a stranger is parsed.
  if (!isSameSecret(named, topic)) return refused('The message is of another topic');
  const message = untrustedJson(request, MAX_BODY_BYTES);
  const text = textOf(message);
  if (!isSameSecret(text('TopicArn'), topic)) return refused('The message is of another topic');
  const time = { unit: 'rfc3339', toleranceSeconds: TOLERANCE_SECONDS } as const;
  const problem = timeProblem(text('Timestamp'), time, request.nowMs);
  if (problem !== null) return problem;
  const [hash, signed] = [HASHES[text('SignatureVersion')], signedOf(message)];
  if (hash === undefined || signed === null) return refused('The message is signed in a way that is not known');
  if (!SIGNATURE.test(text('Signature'))) return refused('The message has no signature');
  const url = addressOf(text('SigningCertURL'), topic);
  if (url === null || !CERTIFICATE_PATH.test(url.pathname) || url.search !== '')
    return refused("The certificate is not at an address of the topic's SNS");
  const key = await certificateKey(keys, url.href, request.nowMs);
  if (key === null) return refused('There is no valid certificate at the address that the message names');
  if (!verify(hash, signed, key, Buffer.from(text('Signature'), 'base64')))
    return refused('The signature does not match the message');
  return { valid: true, mac: createHash('sha256').update(signed).digest() };
}

/** The texts of a message by their names; of what is none, an empty one. */
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
export function confirmationOf({ secret: topic }: Credentials, request: ProviderRequest): string | null {
  if (!request.body.includes('SubscriptionConfirmation')) return null;
  const text = textOf(untrustedJson(request, MAX_BODY_BYTES));
  if (text('Type') !== 'SubscriptionConfirmation') return null;
  const url = addressOf(text('SubscribeURL'), topic);
  if (url === null || url.pathname !== '/') return null;
  const isOurs = url.searchParams.get('TopicArn') === topic;
  return isOurs && url.searchParams.get('Action') === 'ConfirmSubscription' ? url.href : null;
}

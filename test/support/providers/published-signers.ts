// How each provider signs that publishes its keys, written a second time and apart from the registry, and where it
// publishes them. The keys and certificates are made by the test.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, randomUUID, sign } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { certificateOf } from '../servers/certificates.ts';
import type { KeyServer } from './key-server.ts';
import type { Message, SentMessage } from './signer.ts';

export interface SigningKey {
  id: string;
  publicKey: KeyObject;
  privateKey: KeyObject;
}

type Sent = SentMessage & { body: Buffer };

export interface PublishedSigner {
  key: () => SigningKey;
  /** As the owner of a source enters it. */
  secret: () => string;
  /** Where the provider keeps the key from now on. @param valid of its certificate, where it has one */
  publish: (server: KeyServer, key: SigningKey, valid?: { fromMs: number; toMs: number }) => void;
  sign: (message: Message & { secret: string }, key: SigningKey) => Sent;
  /** For how many seconds the signed time is good, before and after. */
  seconds: number;
  /** A header of the signature is that of none when it is missing, empty or doubled. */
  headers: readonly string[];
  /** Bodies that are not what was signed; absent: the body is not signed. */
  changed?: (body: Buffer) => Buffer[];
  /** What of the body is signed, in words, where it is not all. */
  part?: string;
}

const rsaKey = (): SigningKey => ({
  id: randomBytes(16).toString('hex'),
  ...generateKeyPairSync('rsa', { modulusLength: 2048 }),
});
const ecKey = (): SigningKey => ({ id: randomUUID(), ...generateKeyPairSync('ec', { namedCurve: 'prime256v1' }) });
const always = { fromMs: Date.parse('2020-01-01T00:00:00Z'), toMs: Date.parse('2040-01-01T00:00:00Z') };
const jwkOf = ({ id, publicKey }: SigningKey, alg: string) => ({
  ...publicKey.export({ format: 'jwk' }),
  ...{ kid: id, use: 'sig', alg },
});

/** A JSON Web Token; a signature of ECDSA stands in it as two numbers (RFC 7518, section 3.4). */
export function tokenOf(header: object, claims: object, key: KeyObject): string {
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

/** Each byte changed, one more and one less, and none. */
export function everyByte(body: Buffer): Buffer[] {
  const flipped = [...body.keys()].map((at) => {
    const changed = Buffer.from(body);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    return changed;
  });
  return [...flipped, Buffer.concat([body, Buffer.from('x')]), body.subarray(1), Buffer.alloc(0)];
}

const GOOGLE_KEYS = 'www.googleapis.com/oauth2/v3/certs';
const googleSets = new WeakMap<KeyServer, object[]>();

export function googleClaims({ url, nowMs, secret }: Message & { secret: string }) {
  const iat = Math.floor(nowMs / 1000);
  const who = { email: secret, email_verified: true, azp: '113774264463038321964', sub: '113774264463038321964' };
  return { aud: url, ...who, exp: iat + 3600, iat, iss: 'https://accounts.google.com' };
}

const PLAID_PATH = 'plaid.com/webhook_verification_key/get';
const plaidSets = new WeakMap<KeyServer, Map<string, object>>();

function plaidAnswer(keys: Map<string, object>, text: string) {
  const asked = JSON.parse(text) as { client_id?: string; secret?: string; key_id?: string };
  const failed = (error_code: string) => ({ status: 400, body: JSON.stringify({ error_code }) });
  if (!asked.secret?.startsWith('plaid-secret-')) return failed('INVALID_API_KEYS');
  const key = keys.get(asked.key_id ?? '');
  return key ? { body: JSON.stringify({ key, request_id: 'r1' }) } : failed('INVALID_WEBHOOK_VERIFICATION_KEY_ID');
}

const SNS_HOST = 'sns.eu-central-1.amazonaws.com';
export const snsCertificateUrl = ({ id }: SigningKey) => `https://${SNS_HOST}/SimpleNotificationService-${id}.pem`;

const SNS_SIGNED = ['Message', 'MessageId', 'SubscribeURL', 'Subject', 'Timestamp', 'Token', 'TopicArn', 'Type'];

/** A message of SNS. @param changes members that it is given, or loses, before it is signed */
export function snsMessage(
  { secret: topic, nowMs }: Pick<Message, 'nowMs'> & { secret: string },
  key: SigningKey,
  changes: Record<string, string | undefined> = {},
): Sent {
  const all: Record<string, string | undefined> = {
    ...{ Type: 'Notification', MessageId: randomUUID(), TopicArn: topic, Subject: 'Order', Message: '{"order":1}\n' },
    ...{ Timestamp: new Date(nowMs).toISOString(), SignatureVersion: '2', SigningCertURL: snsCertificateUrl(key) },
    ...changes,
  };
  const members = JSON.parse(JSON.stringify(all)) as Record<string, string>;
  const signed = SNS_SIGNED.filter(
    (name) => name in members && (members.Type === 'Notification' || name !== 'Subject'),
  );
  const text = signed.map((name) => `${name}\n${members[name]}\n`).join('');
  const hash = members.SignatureVersion === '1' ? 'sha1' : 'sha256';
  const Signature = sign(hash, Buffer.from(text), key.privateKey).toString('base64');
  return {
    headers: { 'x-amz-sns-message-type': members.Type ?? '', 'x-amz-sns-topic-arn': topic },
    body: Buffer.from(JSON.stringify({ ...members, Signature })),
  };
}

/** The message by which SNS asks to confirm a subscription. */
export function snsConfirmation(message: Pick<Message, 'nowMs'> & { secret: string }, key: SigningKey): Sent {
  const Token = randomBytes(64).toString('hex');
  const query = `Action=ConfirmSubscription&TopicArn=${message.secret}&Token=${Token}`;
  const SubscribeURL = `https://${SNS_HOST}/?${query}`;
  return snsMessage(message, key, { Type: 'SubscriptionConfirmation', Token, SubscribeURL });
}

export const publishedSigners: Record<string, PublishedSigner> = {
  'aws-sns': {
    key: rsaKey,
    secret: () => `arn:aws:sns:eu-central-1:123456789012:orders-${randomBytes(4).toString('hex')}`,
    publish(server, key, valid = always) {
      const body = certificateOf(key, 'sns.amazonaws.com', valid);
      server.documents.set(snsCertificateUrl(key).replace('https://', ''), () => ({ body }));
    },
    sign: snsMessage,
    seconds: 3900,
    headers: ['x-amz-sns-topic-arn'],
    part: 'the members of the message',
    changed(body) {
      const message = JSON.parse(body.toString()) as Record<string, string>;
      const other = (change: Record<string, string | undefined>) =>
        Buffer.from(JSON.stringify({ ...message, ...change }));
      const signed = ['Message', 'MessageId', 'Subject', 'TopicArn', 'Signature', 'SignatureVersion'];
      return [
        // Before it: some readers of base64 leave out what comes behind its padding.
        ...signed.map((name) => other({ [name]: `1${message[name]}` })),
        ...signed.map((name) => other({ [name]: undefined })),
        ...[other({ SignatureVersion: '1' }), other({ Type: 'UnsubscribeConfirmation' }), Buffer.alloc(0)],
      ];
    },
  },
  'google-pubsub': {
    key: rsaKey,
    secret: () => `push-${randomBytes(4).toString('hex')}@my-project.iam.gserviceaccount.com`,
    publish(server, key) {
      const set = googleSets.get(server) ?? [];
      set.push(jwkOf(key, 'RS256'));
      googleSets.set(server, set);
      server.documents.set(GOOGLE_KEYS, () => ({ body: JSON.stringify({ keys: set }) }));
    },
    sign(message, { id, privateKey }) {
      const token = tokenOf({ alg: 'RS256', kid: id, typ: 'JWT' }, googleClaims(message), privateKey);
      return { headers: { authorization: `Bearer ${token}` }, body: message.body };
    },
    seconds: 3600,
    headers: ['authorization'],
  },
  paypal: {
    key: rsaKey,
    secret: () => randomBytes(9).toString('hex').toUpperCase(),
    publish(server, key, valid = always) {
      const body = certificateOf(key, 'messageverificationcerts.paypal.com', valid);
      server.documents.set(`api.paypal.com/v1/notifications/certs/CERT-${key.id}`, () => ({ body }));
    },
    sign({ body, nowMs, secret }, key) {
      const [id, time] = [randomUUID(), new Date(nowMs).toISOString().replace(/\.\d+/, '')];
      const signed = `${id}|${time}|${secret}|${crc32(body)}`;
      const headers = {
        'paypal-transmission-id': id,
        'paypal-transmission-time': time,
        'paypal-transmission-sig': sign('sha256', Buffer.from(signed), key.privateKey).toString('base64'),
        'paypal-cert-url': `https://api.paypal.com/v1/notifications/certs/CERT-${key.id}`,
        'paypal-auth-algo': 'SHA256withRSA',
      };
      return { headers, body };
    },
    seconds: 3 * 86_400,
    headers: [
      ...['paypal-transmission-id', 'paypal-transmission-time', 'paypal-transmission-sig'],
      ...['paypal-cert-url', 'paypal-auth-algo'],
    ],
    part: 'a checksum of the body',
    changed: everyByte,
  },
  plaid: {
    key: ecKey,
    // Plaid signs for all its clients alike, so another secret is one of its other environment.
    secret: () => `production:client-1:plaid-secret-${randomBytes(8).toString('hex')}`,
    publish(server, key) {
      const set = plaidSets.get(server) ?? new Map<string, object>();
      set.set(key.id, { ...jwkOf(key, 'ES256'), created_at: 1560466143, expired_at: null });
      plaidSets.set(server, set);
      server.documents.set(`production.${PLAID_PATH}`, ({ body }) => plaidAnswer(set, body));
      server.documents.set(`sandbox.${PLAID_PATH}`, ({ body }) => plaidAnswer(new Map(), body));
    },
    sign({ body, nowMs }, { id, privateKey }) {
      const request_body_sha256 = createHash('sha256').update(body).digest('hex');
      const claims = { iat: Math.floor(nowMs / 1000), request_body_sha256 };
      return {
        headers: { 'plaid-verification': tokenOf({ alg: 'ES256', kid: id, typ: 'JWT' }, claims, privateKey) },
        body,
      };
    },
    seconds: 300,
    headers: ['plaid-verification'],
    changed: everyByte,
  },
};

/** The secret of a source that must not take what is signed for another one. */
export const otherSecret = (name: string): string => {
  const secret = publishedSigners[name]?.secret() ?? '';
  return name === 'plaid' ? secret.replace('production', 'sandbox') : secret;
};

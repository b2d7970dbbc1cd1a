// What providers publish to try out a verification with: a secret, a request and its genuine signature. A new scheme
// has its row here.
import { expect } from 'chai';
import {
  publicVerificationConfig,
  type VerificationConfig,
  verificationConfigSchema,
} from '../../../core/verification/config.ts';
import { type RawRequest, type Verification, verify } from '../../../core/verification/index.ts';
import { NO_KEYS } from '../../../core/verification/published-keys.ts';
import { type Sender, senderOf } from '../../../providers/index.ts';
import { rawRequest } from '../raw-request.ts';

/** Of a type that needs neither keys of others nor threads. */
export function verifyAs(
  config: VerificationConfig,
  request: Partial<Pick<RawRequest, 'headers' | 'body' | 'nowMs'>>,
): Verification {
  const { verification } = senderOf({ verification: publicVerificationConfig(config) }) as Sender;
  const { secret = '' } = { secret: '', ...config };
  return verify(verification, { secret }, rawRequest(request), NO_KEYS) as Verification;
}

export interface SignatureVector {
  /** The scheme, and who published the vector. */
  name: string;
  config: VerificationConfig;
  body: string;
  nowMs: number;
  /** The genuine headers, lowercase. */
  headers: Record<string, string>;
  /** The one that carries the signature. */
  signatureHeader: string;
  /** What stands before the digest in that header, when that is fixed. */
  prefix?: string;
  /** Whether the header may hold several signatures, of which one has to be right. */
  isList?: true;
}

export const hmacConfig = (fields: object): VerificationConfig =>
  verificationConfigSchema.parse({ type: 'hmac', header: 'X-Signature', ...fields });

// RFC 4231, test case 2, and RFC 2202, test case 2.
export const JEFE = { secret: 'Jefe', body: 'what do ya want for nothing?' };
export const JEFE_SHA256 = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';
const JEFE_SHA1 = 'effcdf6ae5eb2fa2d27416d5f184df9c259a7c79';
const JEFE_SHA512 =
  '164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554' +
  '9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737';

const SLACK_BODY =
  'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V' +
  '&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=' +
  '&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN' +
  '&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';

const jefe = (algorithm: string, encoding: BufferEncoding, prefix: string, hex: string): SignatureVector => ({
  name: `hmac ${algorithm} ${encoding}${prefix && ` with prefix ${prefix}`} (RFC 4231 and 2202, test case 2)`,
  config: hmacConfig({ secret: JEFE.secret, algorithm, encoding, prefix }),
  ...{ body: JEFE.body, nowMs: 0, signatureHeader: 'x-signature', ...(prefix && { prefix }) },
  headers: { 'x-signature': prefix + Buffer.from(hex, 'hex').toString(encoding) },
});

export const stripeVector: SignatureVector = {
  name: "stripe (the test data of Stripe's libraries)",
  config: { type: 'stripe', secret: 'whsec_test_secret' },
  body: JSON.stringify({ id: 'evt_test_webhook', object: 'event' }, null, 2),
  nowMs: 12345_000,
  headers: { 'stripe-signature': 't=12345,v1=2672d138c9a412830f3bfe2ecc5bfb3277cf6f5b49d0119d77dd6cb64da1257e' },
  signatureHeader: 'stripe-signature',
  isList: true,
};

export const slackVector: SignatureVector = {
  name: "slack (Slack's documentation)",
  config: { type: 'slack', secret: '8f742231b10e8888abcd99yyyzzz85a5' },
  body: SLACK_BODY,
  nowMs: 1531420618_000,
  headers: {
    'x-slack-request-timestamp': '1531420618',
    'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
  },
  signatureHeader: 'x-slack-signature',
  prefix: 'v0=',
};

export const signatureVectors: SignatureVector[] = [
  {
    name: "github (GitHub's documentation)",
    config: { type: 'github', secret: "It's a Secret to Everybody" },
    body: 'Hello, World!',
    nowMs: 0,
    headers: { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' },
    signatureHeader: 'x-hub-signature-256',
    prefix: 'sha256=',
  },
  stripeVector,
  slackVector,
  jefe('sha256', 'hex', '', JEFE_SHA256),
  jefe('sha256', 'hex', 'sha256=', JEFE_SHA256),
  jefe('sha256', 'base64', '', JEFE_SHA256),
  jefe('sha1', 'hex', 'sha1=', JEFE_SHA1),
  jefe('sha1', 'base64', '', JEFE_SHA1),
  jefe('sha512', 'hex', '', JEFE_SHA512),
  jefe('sha512', 'base64', 'v1,', JEFE_SHA512),
  jefe('sha512', 'base64url', '', JEFE_SHA512),
];

type Change = Partial<Pick<SignatureVector, 'config' | 'headers' | 'nowMs'> & { body: string | Buffer }>;

/** Verifies the request of a vector, parts of it changed. */
export function verifyVector(vector: SignatureVector, change: Change = {}): Verification {
  const { config, body, headers, nowMs } = { ...vector, ...change };
  return verifyAs(config, { headers, body: Buffer.from(body), nowMs });
}

/** Expects that it is refused for this reason. */
export function expectRefused(vector: SignatureVector, change: Change, reason: RegExp): void {
  const result = verifyVector(vector, change);
  expect(result.valid ? 'accepted' : result.reason).to.match(reason);
}

/** Another text in the header of the signature. */
export const signedWith = ({ headers, signatureHeader }: SignatureVector, text: string): Change => ({
  headers: { ...headers, [signatureHeader]: text },
});

// Braintree: a form with `bt_payload`, which is XML in base64, and `bt_signature`, its HMAC-SHA1 behind the public key. The key of the
// HMAC is the SHA-1 of the private key. Read in Braintree's own library:
// https://github.com/braintree/braintree_node/blob/master/lib/braintree/webhook_notification_gateway.js
import { createHash } from 'node:crypto';
import { compared, hmac, isSameSecret, type Verification } from '../signatures/scheme.ts';
import { type Credentials, type ProviderRequest, refused, withoutBody } from './request.ts';

export interface BraintreeScheme {
  kind: 'braintree';
}

const MAX_BODY_BYTES = 256 * 1024;
const MAX_PAIRS = 4;
const CHALLENGE = /^[0-9a-f]{20,32}$/;

export const braintreeProblem = (secret: string): string | null =>
  /^[\w-]{4,128}:[\w-]{8,256}$/.test(secret) ? null : 'must be the public key, a colon and the private key';

export function verifyBraintree({ secret }: Credentials, request: ProviderRequest): Verification {
  if (request.body.length > MAX_BODY_BYTES) return refused('The form is larger than Braintree sends');
  const form = request.parsed(formOf);
  const [payload, ...others] = form.getAll('bt_payload');
  const [signature, ...more] = form.getAll('bt_signature');
  if (payload === undefined || signature === undefined || others.length + more.length > 0)
    return refused('The body is no form with one bt_payload and one bt_signature');
  // The answer to a challenge, which anyone may ask for, is the signature of a short text of hex digits. That is no XML.
  if (!/^[A-Za-z0-9+/=\n]+$/.test(payload) || !Buffer.from(payload, 'base64').subarray(0, 1).equals(XML))
    return refused('The bt_payload is no XML in base64');
  const [publicKey = '', privateKey = ''] = secret.split(':');
  const ours = signature
    .split('&')
    .slice(0, MAX_PAIRS)
    .map((pair) => pair.split('|'))
    .filter(([name = '']) => isSameSecret(name, publicKey))
    .map(([, mac = '']) => mac);
  const outcome = compared(ours, 'hex', macOf(privateKey, payload));
  return outcome.valid ? outcome : withoutBody(compared(ours, 'hex', macOf(privateKey, `${payload}\n`)));
}

const XML = Buffer.from('<');
const formOf = (body: Buffer) => new URLSearchParams(body.toString('latin1'));
const macOf = (privateKey: string, text: string): Buffer =>
  hmac('sha1', createHash('sha1').update(privateKey).digest(), text);

/** What Braintree wants to have back when it asks whether an address is the owner's; null when it does not ask. */
export function braintreeAnswer(secret: string, challenge: string | null): string | null {
  if (challenge === null || !CHALLENGE.test(challenge)) return null;
  const [publicKey = '', privateKey = ''] = secret.split(':');
  return `${publicKey}|${macOf(privateKey, challenge).toString('hex')}`;
}

/** The form of a payload. */
export function braintreeForm(secret: string, xml: Buffer): string {
  const [publicKey = '', privateKey = ''] = secret.split(':');
  const payload = `${xml.toString('base64')}\n`;
  const signature = `${publicKey}|${macOf(privateKey, payload).toString('hex')}`;
  return new URLSearchParams({ bt_signature: signature, bt_payload: payload }).toString();
}

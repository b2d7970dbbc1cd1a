// What Standard Webhooks publishes to try out a verification with, and what else a receiver must take or refuse.
import { createHmac } from 'node:crypto';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
/** Published with the secret: the signature is of this id, time and body. */
const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
const AT = 1_614_265_330;
const BODY = '{"test": 2432232314}';
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';

/** A webhook, and whether it must be taken. */
export interface VerificationCase {
  what: string;
  body: string;
  headers: Record<string, string>;
  secrets: string[];
  /** Seconds since 1970. */
  now: number;
  isGood: boolean;
}

const genuine: Omit<VerificationCase, 'what'> = {
  body: BODY,
  headers: { 'webhook-id': ID, 'webhook-timestamp': String(AT), 'webhook-signature': SIGNATURE },
  secrets: [SECRET],
  now: AT,
  isGood: true,
};
const signed = (body: string, secret = SECRET): string =>
  `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(`${ID}.${AT}.${body}`)
    .digest('base64')}`;
const withHeaders = (headers: Record<string, string>) => ({ headers: { ...genuine.headers, ...headers } });
const wrongSignature = (text: string) => ({ ...withHeaders({ 'webhook-signature': text }), isGood: false });
const without = (name: string) => ({
  headers: Object.fromEntries(Object.entries(genuine.headers).filter(([each]) => each !== name)),
});

export const VERIFICATION_CASES: VerificationCase[] = (
  [
    ['the published vector', {}],
    ['headers in another case', { headers: upper(genuine.headers) }],
    ['a secret without its prefix', { secrets: [SECRET.slice(6)] }],
    ['the second of two secrets', { secrets: [OTHER, SECRET] }],
    ['the second of two signatures', withHeaders({ 'webhook-signature': `${signed(BODY, OTHER)} ${SIGNATURE}` })],
    ['a signature of another version beside it', withHeaders({ 'webhook-signature': `v1a,AAAA ${SIGNATURE}` })],
    ['a time as far away as it may be', { now: AT + 300 }],
    ['text that is not ASCII', { body: '{"né":"ü"}', ...withHeaders({ 'webhook-signature': signed('{"né":"ü"}') }) }],
    ['an empty body', { body: '', ...withHeaders({ 'webhook-signature': signed('') }) }],
    ['another body', { body: `${BODY} `, isGood: false }],
    ['another secret', { secrets: [OTHER], isGood: false }],
    ['another id', { ...withHeaders({ 'webhook-id': 'msg_other' }), isGood: false }],
    ['another time', { ...withHeaders({ 'webhook-timestamp': String(AT + 1) }), isGood: false }],
    ['an old time', { now: AT + 301, isGood: false }],
    ['a time to come', { now: AT - 301, isGood: false }],
    ['a time that is no number', { ...withHeaders({ 'webhook-timestamp': '1e9' }), isGood: false }],
    ['the right digest as another version', wrongSignature(`v2${SIGNATURE.slice(2)}`)],
    ['a digest without a version', wrongSignature(SIGNATURE.slice(3))],
    ['a signature that is no base64', wrongSignature('v1,???')],
    ['no id', { ...without('webhook-id'), isGood: false }],
    ['no time', { ...without('webhook-timestamp'), isGood: false }],
    ['no signature', { ...without('webhook-signature'), isGood: false }],
  ] as [what: string, change: Partial<VerificationCase>][]
).map(([what, change]) => ({ ...genuine, ...change, what }));

function upper(headers: Record<string, string>): Record<string, string> {
  const nameOf = (name: string) => name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [nameOf(name), value]));
}

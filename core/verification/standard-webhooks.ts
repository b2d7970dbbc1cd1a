// Standard Webhooks (specification 1.0): `v1` is an HMAC-SHA256 with a shared key, `v1a` an Ed25519 signature that is
// verified with the sender's public key. Svix sends the same under headers of its own name. Outgoing deliveries are
// signed so when their destination has a signing secret.
import { ed25519Key, verifyByKey } from './public-key.ts';
import { headerOf, hmac, refuse, requireMac, requireTime, type SchemeKind, signedHeader } from './scheme.ts';

interface StandardScheme {
  kind: 'standard';
  headerPrefix: 'webhook-' | 'svix-';
}

const TOLERANCE_SECONDS = 300;
const SHARED = 'whsec_';
const PUBLIC = 'whpk_';
// Of at least one byte: with an empty key anyone could sign.
const BASE64 = /^[A-Za-z0-9+/]{2,}={0,2}$/;

export const standardKind: SchemeKind<StandardScheme> = {
  verify({ headerPrefix }, { secret }, request) {
    headerOf(request, `${headerPrefix}id`);
    const timestamp = headerOf(request, `${headerPrefix}timestamp`);
    const signature = headerOf(request, `${headerPrefix}signature`);
    requireTime(timestamp, { unit: 's', toleranceSeconds: TOLERANCE_SECONDS }, request.nowMs);
    const signed = Buffer.concat([signedHeader(request, `${headerPrefix}id`), Buffer.from(`.${timestamp}.`)]);
    const ofVersion = (version: string) =>
      signature
        .split(' ')
        .filter((item) => item.startsWith(version))
        .map((item) => item.slice(version.length));
    if (!secret.startsWith(PUBLIC)) {
      const key = bytesAfter(SHARED, secret) ?? secret;
      return requireMac(ofVersion('v1,'), 'base64', hmac('sha256', key, signed, request.body));
    }
    const key = ed25519Key(bytesAfter(PUBLIC, secret)) ?? refuse("The source's key is not an Ed25519 public key");
    const bytes = Buffer.concat([signed, request.body]);
    return verifyByKey({ algorithm: 'ed25519', key, encoding: 'base64' }, bytes, ofVersion('v1a,'));
  },
  sign({ headerPrefix }, secret, { id, nowMs, body }) {
    if (secret.startsWith(PUBLIC)) return null;
    const signed = signStandardWebhook({ secrets: [secret], id, timestampSeconds: Math.floor(nowMs / 1000), body });
    const named = Object.entries(signed).map(([name, value]) => [name.replace(/^webhook-/, headerPrefix), value]);
    return { headers: Object.fromEntries(named) as Record<string, string> };
  },
  secretProblem(_scheme, secret) {
    if (secret.startsWith(PUBLIC))
      return ed25519Key(bytesAfter(PUBLIC, secret)) ? null : `must be ${PUBLIC} followed by 32 bytes in base64`;
    return bytesAfter(SHARED, secret)
      ? null
      : `must be ${SHARED} followed by base64, or ${PUBLIC} followed by a public key`;
  },
};

const MIN_KEY_BYTES = 24;
const MAX_KEY_BYTES = 64;

/**
 * What is wrong with the secret of a destination, or null. The key is 24 to 64 bytes ("Signature scheme" of the
 * specification).
 */
export function signingSecretProblem(secret: string): string | null {
  const bytes = bytesAfter(SHARED, secret);
  if (bytes === null) return `must be ${SHARED} followed by base64`;
  if (bytes.length < MIN_KEY_BYTES || bytes.length > MAX_KEY_BYTES)
    return `must be ${SHARED} followed by ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes in base64`;
  return null;
}

/**
 * @param message `id` is the event's, the same in every attempt, so that a receiver can recognise a repeat. `secrets`:
 * with each of them there is a signature, the first one first ("Multiple signatures" of the specification, for
 * rotations)
 * @returns the three headers of the specification
 * @throws TypeError when a secret is not `whsec_` and base64
 */
export function signStandardWebhook(message: {
  secrets: readonly string[];
  id: string;
  timestampSeconds: number;
  body: Buffer;
}): Record<string, string> {
  const sign = (secret: string): string => {
    const key = bytesAfter(SHARED, secret);
    if (key === null) throw new TypeError(`A signing secret must be ${SHARED} followed by base64`);
    const signature = hmac('sha256', key, `${message.id}.${message.timestampSeconds}.`, message.body);
    return `v1,${signature.toString('base64')}`;
  };
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestampSeconds),
    'webhook-signature': message.secrets.map(sign).join(' '),
  };
}

function bytesAfter(prefix: string, text: string): Buffer | null {
  const rest = text.slice(prefix.length);
  return text.startsWith(prefix) && BASE64.test(rest) ? Buffer.from(rest, 'base64') : null;
}

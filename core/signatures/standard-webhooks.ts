// Standard Webhooks (specification 1.0): how outgoing deliveries are signed when the destination has a signing secret.
// Rules: DEST-11, OUT-06.
import { hmac } from './scheme.ts';

const PREFIX = 'whsec_';
const MIN_KEY_BYTES = 24;
const MAX_KEY_BYTES = 64;

/** What is wrong with a signing secret, or null. The key is 24 to 64 bytes ("Signature scheme" of the specification). */
export function signingSecretProblem(secret: string): string | null {
  const bytes = keyOf(secret);
  if (bytes === null) return `must be ${PREFIX} followed by base64`;
  if (bytes.length < MIN_KEY_BYTES || bytes.length > MAX_KEY_BYTES) {
    return `must hold a key of ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes in base64 after ${PREFIX}`;
  }
  return null;
}

/**
 * Signs a delivery.
 * @param message `id` is the event's, the same in every attempt, so that a receiver can recognise a repeat. `secrets`: with each of
 * them there is a signature, the first one first ("Multiple signatures" of the specification, for rotations)
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
    const key = keyOf(secret);
    if (key === null) throw new TypeError(`A signing secret must be ${PREFIX} followed by base64`);
    const signature = hmac('sha256', key, `${message.id}.${message.timestampSeconds}.`, message.body);
    return `v1,${signature.toString('base64')}`;
  };
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestampSeconds),
    'webhook-signature': message.secrets.map(sign).join(' '),
  };
}

function keyOf(secret: string): Buffer | null {
  const text = secret.slice(PREFIX.length);
  if (!secret.startsWith(PREFIX) || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  return Buffer.from(text, 'base64');
}

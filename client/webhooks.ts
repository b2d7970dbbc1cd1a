// For receivers: verifies webhooks that Hookyard delivers, or anybody else who signs by Standard Webhooks.

/** The webhook was not signed with the secret, or is too old. Return 400 or 401, and do not process it. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/** A webhook with a valid signature. */
export interface VerifiedWebhook {
  /** The same in every attempt: use it to skip webhooks that you have already processed. */
  id: string;
  /** When the webhook was sent. */
  timestamp: Date;
}

/** Those of a request: of fetch, or of Node. */
type GivenHeaders = Headers | Record<string, string | string[] | undefined>;

/**
 * Verifies a webhook (`v1`, HMAC-SHA256).
 * @param body the body as received, before anything parses it
 * @param secret `whsec_...`, or several during a rotation: one of them must match
 * @param options.toleranceMs how far its time may be from now. Default 300,000
 * @param options.nowMs instead of the clock
 * @throws WebhookVerificationError when it does not fit; TypeError when a secret is none
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: GivenHeaders,
  secret: string | readonly string[],
  { toleranceMs = 300_000, nowMs = Date.now() }: { toleranceMs?: number; nowMs?: number } = {},
): Promise<VerifiedWebhook> {
  const keys = await Promise.all([secret].flat().map(keyOf));
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((part) =>
    header(headers, `webhook-${part}`),
  );
  if (!id || !timestamp || !signatures)
    throw new WebhookVerificationError('webhook-id, webhook-timestamp or webhook-signature is missing');
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError('webhook-timestamp is not a number of seconds');
  const sent = Number(timestamp) * 1000;
  if (Math.abs(nowMs - sent) > toleranceMs)
    throw new WebhookVerificationError('webhook-timestamp is too far from the current time');
  const content = signedContent(`${id}.${timestamp}.`, body);
  const given = signatures.split(' ').flatMap((each) => (each.startsWith('v1,') ? (bytesOf(each.slice(3)) ?? []) : []));
  const fits = await Promise.all(
    keys.flatMap((key) => given.map((signature) => crypto.subtle.verify('HMAC', key, signature, content))),
  );
  if (!fits.includes(true))
    throw new WebhookVerificationError(
      'no signature matches: the secret is wrong, or the webhook was sent by someone else or changed in transit',
    );
  return { id, timestamp: new Date(sent) };
}

function header(headers: GivenHeaders, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? '';
  const [, value] = Object.entries(headers).find(([given]) => given.toLowerCase() === name) ?? [];
  return typeof value === 'string' ? value : '';
}

function signedContent(prefix: string, body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const parts = [encoder.encode(prefix), typeof body === 'string' ? encoder.encode(body) : body] as const;
  const content = new Uint8Array(parts[0].length + parts[1].length);
  content.set(parts[0]);
  content.set(parts[1], parts[0].length);
  return content;
}

async function keyOf(secret: string) {
  const bytes = bytesOf(secret.replace(/^whsec_/, ''));
  if (!bytes || bytes.length === 0) throw new TypeError('A secret must be "whsec_" followed by base64');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

/** Of base64; undefined when it is none. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

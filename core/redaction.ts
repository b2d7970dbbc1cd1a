// How secrets are shown (interface.md, "Credential redaction") and how a shown one that comes back is recognised.

const BULLETS = '••••';
const REDACTED = /^•{4}(?:.{4})?$/su;

/** A secret as the API shows it: four bullets and its last 4 characters; bullets alone when it is shorter than 8. */
export function redactSecret(value: string): string {
  // The last 16 UTF-16 units hold at least 8 characters when the value has that many.
  const characters = Array.from(value.slice(-16));
  return characters.length < 8 ? BULLETS : BULLETS + characters.slice(-4).join('');
}

/** Whether a text is what `redactSecret` makes. */
export function isRedacted(text: string): boolean {
  return REDACTED.test(text);
}

/** The value to store; `ok: false` is a redacted value with nothing stored behind it, which the caller must refuse. */
export type Kept = { ok: true; value: string } | { ok: false };

/**
 * Decides what an update stores for a secret: a redacted value sent back keeps the stored one, any other replaces it.
 * @param stored the stored value in clear, absent when there is none
 */
export function keepRedacted(incoming: string, stored: string | null | undefined): Kept {
  if (!isRedacted(incoming)) return { ok: true, value: incoming };
  return stored === null || stored === undefined ? { ok: false } : { ok: true, value: stored };
}

// Names of headers whose value proves an identity or a right. An idempotency key does neither.
const SECRET_NAME =
  /authorization|authenticat|cookie|secret|token|passw|credential|signature|session|jwt|api-?key|(?:^|[-_])(?:key|auth|sig|hmac)(?:$|[-_])/i;
const NOT_SECRET = new Set(['idempotency-key', 'sec-websocket-key']);

/** Whether a header's value is masked wherever headers are shown, judged by its name. */
export function isSecretHeader(name: string): boolean {
  return SECRET_NAME.test(name) && !NOT_SECRET.has(name.toLowerCase());
}

/**
 * Copies headers with the secret values masked whole (the end of a Basic credential would tell the end of a password).
 * @param secretNames lowercase names to mask besides those that look secret, for example the header of an API key
 */
export function maskHeaders(
  headers: Readonly<Record<string, string>>,
  secretNames: readonly string[] = [],
): Record<string, string> {
  const masked: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const secret = isSecretHeader(name) || secretNames.includes(name.toLowerCase());
    masked[name] = secret ? BULLETS : (headers[name] ?? '');
  }
  return masked;
}

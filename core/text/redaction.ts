// Redacts secrets, and recognizes redacted values that clients send back.
import type { AuthType } from '../delivery/auth-config.ts';

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

/** The field of each `authConfig` that is a secret; null when there is none. */
export const AUTH_SECRET_FIELD: Readonly<Record<AuthType, string | null>> = {
  none: null,
  basic: 'password',
  bearer: 'token',
  api_key: 'key',
  custom_header: 'headerValue',
};

/** `authConfig` as the API shows it: the secret reads `••••` and its last 4 characters. */
export function redactAuthConfig(
  authType: AuthType,
  config: Readonly<Record<string, string>> | null,
): Record<string, string> {
  const secretField = AUTH_SECRET_FIELD[authType];
  const shown: Record<string, string> = { ...config };
  const secret = secretField === null ? undefined : shown[secretField];
  if (secretField !== null && secret !== undefined) shown[secretField] = redactSecret(secret);
  return shown;
}

/**
 * Puts the stored secret back into an `authConfig` whose secret came back redacted.
 * @param stored the stored config of the same `authType`, or null when there is none
 * @returns the config to store, or the field whose redacted value has nothing stored behind it (the caller refuses it)
 */
export function keepRedactedAuthConfig(
  authType: AuthType,
  incoming: Readonly<Record<string, string>>,
  stored: Readonly<Record<string, string>> | null,
): { ok: true; config: Record<string, string> } | { ok: false; field: string } {
  const field = AUTH_SECRET_FIELD[authType];
  const secret = field === null ? undefined : incoming[field];
  if (field === null || secret === undefined) return { ok: true, config: { ...incoming } };
  const kept = keepRedacted(secret, stored?.[field]);
  return kept.ok ? { ok: true, config: { ...incoming, [field]: kept.value } } : { ok: false, field };
}

/** Whether an `authConfig` that is sent keeps the stored secret of the same `authType`. */
export function keepsAuthSecret(authType: AuthType, sent: Readonly<Record<string, unknown>> | undefined): boolean {
  const field = AUTH_SECRET_FIELD[authType];
  if (field === null) return false;
  const secret = sent?.[field];
  return sent === undefined || (typeof secret === 'string' && isRedacted(secret));
}

// Names of headers whose value is a credential. An idempotency key is not one.
const SECRET_NAME =
  /authorization|authenticat|cookie|secret|token|passw|credential|signature|session|jwt|api-?key|(?:^|[-_])(?:key|auth|sig|hmac)(?:$|[-_])/i;
const NOT_SECRET = new Set(['idempotency-key', 'sec-websocket-key']);

/** Whether a header's value is masked wherever headers are shown, judged by its name. */
function isSecretHeader(name: string): boolean {
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
  const masked = Object.create(null) as Record<string, string>;
  for (const name of Object.keys(headers)) {
    const secret = isSecretHeader(name) || secretNames.includes(name.toLowerCase());
    masked[name] = secret ? BULLETS : (headers[name] ?? '');
  }
  return masked;
}

/** Masks these texts wherever they are in another. */
export function maskTexts(text: string, secrets: readonly string[]): string {
  return secrets.reduce((masked, secret) => (secret === '' ? masked : masked.replaceAll(secret, BULLETS)), text);
}

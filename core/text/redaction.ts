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

export function isRedacted(text: string): boolean {
  return REDACTED.test(text);
}

/** Whether a new secret was typed behind the redacted one, which callers refuse: no secret begins with four bullets. */
export const extendsRedacted = (text: string): boolean => text.startsWith(BULLETS) && !isRedacted(text);

export const NEEDS_FULL_SECRET = 'must be the full secret; a masked value is accepted only to keep a stored secret';

/** The value to store; `ok: false`: the caller must refuse it, a redacted value with nothing stored behind it, or with
 * more typed behind it. */
type Kept = { ok: true; value: string } | { ok: false };

/**
 * Decides what an update stores for a secret: a redacted value sent back keeps the stored one, any other replaces it.
 * @param stored the stored value in clear, absent when there is none
 */
export function keepRedacted(incoming: string, stored: string | null | undefined): Kept {
  if (extendsRedacted(incoming)) return { ok: false };
  if (!isRedacted(incoming)) return { ok: true, value: incoming };
  return stored === null || stored === undefined ? { ok: false } : { ok: true, value: stored };
}

type Members = Readonly<Record<string, unknown>>;

/** A config as the API shows it: each of these members reads `••••` and its last 4 characters. */
export function redactMembers<Value>(
  config: Readonly<Record<string, Value>>,
  secrets: readonly string[],
): Record<string, Value | string> {
  const shown: Record<string, Value | string> = { ...config };
  for (const member of secrets) {
    const secret = config[member];
    if (typeof secret === 'string') shown[member] = redactSecret(secret);
  }
  return shown;
}

/**
 * Puts the stored secrets back into a config whose secrets came back redacted; call it before the schema.
 * @param stored the stored config of the same type, or null when there is none
 * @returns the config to check and store, or the field whose redacted value has nothing stored behind it (the caller
 * refuses it)
 */
export function keepRedactedMembers(
  incoming: Members,
  secrets: readonly string[],
  stored: Members | null,
): { ok: true; config: Record<string, unknown> } | { ok: false; field: string } {
  const config = { ...incoming };
  for (const field of secrets) {
    const [secret, before] = [incoming[field], stored?.[field]];
    if (typeof secret !== 'string') continue;
    const kept = keepRedacted(secret, typeof before === 'string' ? before : null);
    if (!kept.ok) return { ok: false, field };
    config[field] = kept.value;
  }
  return { ok: true, config };
}

/** The field of each `authConfig` that is a secret; null when there is none. */
export const AUTH_SECRET_FIELD: Readonly<Record<AuthType, string | null>> = {
  none: null,
  basic: 'password',
  bearer: 'token',
  api_key: 'key',
  custom_header: 'headerValue',
};
const authSecrets = (authType: AuthType): string[] => [AUTH_SECRET_FIELD[authType] ?? []].flat();

export const redactAuthConfig = (authType: AuthType, config: Readonly<Record<string, string>> | null) =>
  redactMembers(config ?? {}, authSecrets(authType));

export const keepRedactedAuthConfig = (authType: AuthType, incoming: Members, stored: Members | null) =>
  keepRedactedMembers(incoming, authSecrets(authType), stored);

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

export function maskTexts(text: string, secrets: readonly string[]): string {
  return secrets.reduce((masked, secret) => (secret === '' ? masked : masked.replaceAll(secret, BULLETS)), text);
}

// When the next attempt of a delivery is made. Workflows import this file: nothing here may depend on Node or on randomness.
// Rules: DLV-21, DLV-22.

/** A destination's retry policy; delays in ms. `maxRetries` counts the retries after the first attempt. */
export type RetryPolicy = {
  maxRetries: number;
  initialDelay: number;
  maxDelay: number;
  backoffMultiplier: number;
};

/** The defaults of both destination families (DEST-14). */
export const DEFAULT_RETRY_POLICY: Readonly<RetryPolicy> = {
  maxRetries: 5,
  initialDelay: 1000,
  maxDelay: 60_000,
  backoffMultiplier: 2,
};

/** The longest wait a destination can ask for with `Retry-After`: one hour in ms. */
export const MAX_RETRY_AFTER = 3_600_000;

/**
 * The planned wait before a retry: exponential, limited, with +-10 % jitter so that retries of many deliveries spread.
 * @param policy the destination's policy
 * @param retryNumber 1 for the first retry
 * @param random01 a number from 0 to 1, chosen by the caller
 * @returns whole ms
 */
export function retryDelay(policy: RetryPolicy, retryNumber: number, random01: number): number {
  if (policy.initialDelay <= 0) return 0;
  // A large exponent gives Infinity, which the limit turns into maxDelay.
  const planned = Math.min(policy.maxDelay, policy.initialDelay * policy.backoffMultiplier ** (retryNumber - 1));
  return Math.round(planned * (0.9 + 0.2 * random01));
}

// RFC 9110, section 5.6.7: all three forms of HTTP-date start with the day's name. Without this test the date parser would accept
// nearly any text with a digit as a date.
const HTTP_DATE = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i;

/** Reads an HTTP-date. @returns milliseconds since 1970; null when it is none */
export function parseHttpDate(text: string | null | undefined): number | null {
  const date = text?.trim() ?? '';
  if (!HTTP_DATE.test(date)) return null;
  // The asctime form carries no zone and means UTC.
  const at = Date.parse(/GMT$/i.test(date) ? date : `${date} GMT`);
  return Number.isNaN(at) ? null : at;
}

/**
 * Reads a `Retry-After` header (RFC 9110, section 10.2.3).
 * @param headerValue whole seconds or an HTTP-date; a time in the past and a negative number mean "now"
 * @param nowMs milliseconds since 1970
 * @returns the wait in ms, or null when there is no header or it cannot be read
 */
export function parseRetryAfter(headerValue: string | null | undefined, nowMs: number): number | null {
  const text = headerValue?.trim();
  if (!text) return null;
  if (/^-?\d+$/.test(text)) return Math.min(Math.max(0, Number(text)) * 1000, Number.MAX_SAFE_INTEGER);
  const at = parseHttpDate(text);
  return at === null ? null : Math.max(0, at - nowMs);
}

/** The wait before the next attempt in ms: `Retry-After` (at most an hour) lengthens the planned wait, never shortens it. */
export function waitBeforeRetry(wait: { planned: number; retryAfter: number | null }): number {
  return Math.max(wait.planned, Math.min(wait.retryAfter ?? 0, MAX_RETRY_AFTER));
}

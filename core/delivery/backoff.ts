// When the next attempt of a delivery is made. Workflows import this file: nothing here may depend on Node or on
// randomness.
import { parseTimestamp } from '../text/timestamps.ts';

/** A destination's retry policy; delays in ms. `maxRetries` counts the retries after the first attempt. */
export type RetryPolicy = {
  maxRetries: number;
  initialDelay: number;
  maxDelay: number;
  backoffMultiplier: number;
};

export const DEFAULT_RETRY_POLICY: Readonly<RetryPolicy> = {
  maxRetries: 5,
  initialDelay: 1000,
  maxDelay: 60_000,
  backoffMultiplier: 2,
};

/** The longest wait a destination can ask for with `Retry-After`: one hour in ms. */
export const MAX_RETRY_AFTER = 3_600_000;

/**
 * The planned wait before a retry in whole ms: exponential, limited, with +-10 % jitter so that retries of many
 * deliveries spread.
 * @param retryNumber 1 for the first retry
 */
export function retryDelay(policy: RetryPolicy, retryNumber: number, random01: number): number {
  if (policy.initialDelay <= 0) return 0;
  // A large exponent gives Infinity, which the limit turns into maxDelay.
  const planned = Math.min(policy.maxDelay, policy.initialDelay * policy.backoffMultiplier ** (retryNumber - 1));
  return Math.round(planned * (0.9 + 0.2 * random01));
}

// Fractions are no form of HTTP, but some servers send them.
const SECONDS = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+)) *(?:s|sec|seconds)?$/i;
// Not behind the name of a day.
const BETWEEN_VALUES = /,(?! *\d{1,2}[ -][a-z])/i;

/**
 * Reads a `Retry-After` header (RFC 9110, section 10.2.3).
 * @param headerValue seconds or an HTTP-date, of several the longest; a time in the past and a negative number mean
 * "now"
 * @returns the wait in whole ms, or null when there is no header or it cannot be read
 */
export function parseRetryAfter(headerValue: string | null | undefined, nowMs: number): number | null {
  const waits = (headerValue ?? '').split(BETWEEN_VALUES).flatMap((text) => {
    const value = text
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .trim();
    const seconds = SECONDS.exec(value)?.[1];
    if (seconds !== undefined)
      return Math.min(Math.max(0, Math.round(Number(seconds) * 1000)), Number.MAX_SAFE_INTEGER);
    const at = parseTimestamp(value);
    return at === null ? [] : Math.max(0, at - nowMs);
  });
  return waits.length === 0 ? null : Math.max(...waits);
}

/**
 * The wait that an answer asks for. The time that it names is of the server's clock, and so is that of `Date` (RFC
 * 9110, section 6.6.1): the wait between the two is right also when ours is wrong.
 * @param headers names in lower case
 * @returns ms; null when it asks for none
 */
export function retryAfterOf(headers: Readonly<Record<string, string>>, nowMs: number): number | null {
  return parseRetryAfter(headers['retry-after'], parseTimestamp(headers.date?.trim() ?? '') ?? nowMs);
}

/**
 * The wait before the next attempt in ms: `Retry-After` (at most an hour) lengthens the planned wait, never shortens
 * it.
 */
export function waitBeforeRetry(wait: { planned: number; retryAfter: number | null }): number {
  return Math.max(wait.planned, Math.min(wait.retryAfter ?? 0, MAX_RETRY_AFTER));
}

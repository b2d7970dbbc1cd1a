// When the next attempt of a delivery is made. Workflows import this file: nothing here may depend on Node or on randomness.

/** A destination's retry policy; delays in ms. `maxRetries` counts the retries after the first attempt. */
export type RetryPolicy = {
  maxRetries: number;
  initialDelay: number;
  maxDelay: number;
  backoffMultiplier: number;
};

/** The defaults of both destination families. */
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

// RFC 9110, section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT` and `Sunday, 06-Nov-94 08:49:37 GMT`. Some servers leave the day's name or
// the zone out, or write another zone.
const DATE =
  /^(?:[a-z]{3,9},? *)?(\d{1,2})[ -]([a-z]{3})[ -](\d{4}|\d\d) +(\d\d):(\d\d):(\d\d)(?: *(?:GMT|UTC?|Z|([+-]\d\d)(\d\d)))?$/i;
// `Sun Nov  6 08:49:37 1994`, which means UTC.
const ASCTIME = /^[a-z]{3} ([a-z]{3}) {1,2}(\d{1,2}) (\d\d):(\d\d):(\d\d) (\d{4})(?: GMT| UTC)?$/i;
// RFC 3339: no form of HTTP, but some servers send it.
const TIMESTAMP = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Reads an HTTP-date. @param nowMs tells the century of two digits @returns milliseconds since 1970; null when it is none */
function parseHttpDate(text: string | null | undefined, nowMs: number): number | null {
  const date = text?.trim() ?? '';
  const [, asctimeMonth, asctimeDay, ...asctime] = ASCTIME.exec(date) ?? [];
  if (asctimeMonth !== undefined) {
    const [hour, minute, second, year] = asctime;
    return utc([year, asctimeMonth, asctimeDay, hour, minute, second]);
  }
  const [, day, month, year = '', hour, minute, second, zone = '+00', zoneMinutes = '00'] = DATE.exec(date) ?? [];
  if (month === undefined) return TIMESTAMP.test(date) ? numberOrNull(Date.parse(date)) : null;
  const at = utc([year.length === 2 ? fullYear(year, nowMs) : year, month, day, hour, minute, second]);
  if (at === null) return null;
  const east = Number(zone) * 60 + Number(zone.charAt(0) + zoneMinutes);
  return at - east * 60_000;
}

function utc([year, month = '', ...rest]: (string | undefined)[]): number | null {
  const [day = 0, hour = 0, minute = 0, second = 0] = rest.map(Number);
  const index = MONTHS.indexOf(month.toLowerCase());
  // 60: a leap second.
  if (index === -1 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) return null;
  return numberOrNull(Date.UTC(Number(year), index, day, hour, minute, second));
}

const numberOrNull = (ms: number): number | null => (Number.isNaN(ms) ? null : ms);

/** The nearest such year. RFC 9110, section 5.6.7: what is more than 50 years ahead means the century before. */
function fullYear(twoDigits: string, nowMs: number): string {
  const now = new Date(nowMs).getUTCFullYear();
  const year = now - (now % 100) + Number(twoDigits);
  if (year > now + 50) return String(year - 100);
  return String(year < now - 49 ? year + 100 : year);
}

// Fractions are no form of HTTP, but some servers send them.
const SECONDS = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+)) *(?:s|sec|seconds)?$/i;
// Not behind the name of a day.
const BETWEEN_VALUES = /,(?! *\d{1,2}[ -][a-z])/i;

/**
 * Reads a `Retry-After` header (RFC 9110, section 10.2.3).
 * @param headerValue seconds or an HTTP-date, of several the longest; a time in the past and a negative number mean "now"
 * @param nowMs milliseconds since 1970
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
    const at = parseHttpDate(value, nowMs);
    return at === null ? [] : Math.max(0, at - nowMs);
  });
  return waits.length === 0 ? null : Math.max(...waits);
}

/**
 * The wait that an answer asks for. The time that it names is of the server's clock, and so is that of `Date` (RFC 9110, section 6.6.1):
 * the wait between the two is right also when ours is wrong.
 * @param headers names in lower case
 * @returns ms; null when it asks for none
 */
export function retryAfterOf(headers: Readonly<Record<string, string>>, nowMs: number): number | null {
  return parseRetryAfter(headers['retry-after'], parseHttpDate(headers.date, nowMs) ?? nowMs);
}

/** The wait before the next attempt in ms: `Retry-After` (at most an hour) lengthens the planned wait, never shortens it. */
export function waitBeforeRetry(wait: { planned: number; retryAfter: number | null }): number {
  return Math.max(wait.planned, Math.min(wait.retryAfter ?? 0, MAX_RETRY_AFTER));
}

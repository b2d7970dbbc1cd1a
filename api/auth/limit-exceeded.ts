// The refusal because of a limit of the organization (core/fairness/limits.ts).
// Rules: LIMIT-01.
import type { LimitName } from '../../core/fairness/limits.ts';
import { ApiError } from '../request/errors.ts';

/**
 * Retry-After of what no time heals by itself: records must be deleted, or the operator raises the limit. Long, so that programs
 * that obey it do not ask again and again, and finite, because 429 says that the request may succeed later.
 */
export const UNTIL_CHANGED_SECONDS = 3600;

/**
 * 429 with the name of the limit.
 * @param what says what may be, and what to do
 * @param retryAfterSeconds raised to a whole second; never above an hour, because the operator may raise the limit
 */
export function limitExceeded(limit: LimitName, what: string, retryAfterSeconds: number): ApiError {
  const seconds = Math.min(UNTIL_CHANGED_SECONDS, Math.max(1, Math.ceil(retryAfterSeconds)));
  const message = `${what} (limit ${limit})`;
  return new ApiError(429, 'LIMIT_EXCEEDED', message, undefined, { 'Retry-After': String(seconds) }, limit);
}

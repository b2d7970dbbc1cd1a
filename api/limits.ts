// Refusals because of a limit of the organization (core/limits.ts).
import type { LimitName } from '../core/limits.ts';
import { ApiError } from './errors.ts';

/**
 * 429 with the name of the limit.
 * @param what says what may be, and what to do
 */
export function limitExceeded(limit: LimitName, what: string, retryAfterSeconds: number): ApiError {
  const message = `${what} (limit ${limit})`;
  return new ApiError(429, 'LIMIT_EXCEEDED', message, undefined, { 'Retry-After': String(retryAfterSeconds) }, limit);
}

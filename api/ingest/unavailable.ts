// 503: the sender has to come again.
import { ApiError } from '../request/errors.ts';

/** @param reason a sentence without its end */
export function unavailable(reason: string, retryAfterSeconds: number = 1): ApiError {
  return new ApiError(503, 'UNAVAILABLE', `${reason}; nothing was stored, send it again`, undefined, {
    'Retry-After': String(retryAfterSeconds),
  });
}

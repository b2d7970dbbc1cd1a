import { NoThreadError, NoTurnError, WorkEndedError } from '../../outbound/threads/index.ts';
import { ApiError, limitExceeded, unavailable } from './errors.ts';

/**
 * @throws ApiError 503 when there is no thread at the moment, 429 when the organization has to wait, 400 for work that
 * is too much
 */
export async function inThreads<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NoTurnError && error.reason === 'budget')
      throw limitExceeded('transformMsPerMinute', error.detail, error.waitMs / 1000);
    if (error instanceof NoThreadError) throw unavailable(error.detail);
    if (error instanceof WorkEndedError)
      throw new ApiError(
        400,
        'VALIDATION_ERROR',
        'Processing the body takes more time or memory than a request may use',
      );
    throw error;
  }
}

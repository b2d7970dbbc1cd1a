// Work in the threads for filters, schemas and mappings, on behalf of a management request.
import { ComputeBusyError, ComputeOverrunError } from '../../outbound/compute/index.ts';
import { ApiError, unavailable } from './errors.ts';

/** @throws ApiError 503 when they cannot be used at the moment, 400 for work that is too much */
export async function inThreads<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ComputeBusyError) throw unavailable(error.message);
    if (error instanceof ComputeOverrunError) {
      throw new ApiError(400, 'VALIDATION_ERROR', 'The body asks for more work than one request may make');
    }
    throw error;
  }
}

// Work in threads and in the sandbox of transforms on behalf of a management request, and how it is answered when there is no room.
import { ComputeBusyError, ComputeOverrunError } from '../../outbound/compute/index.ts';
import { LateTurnError, NoTurnError, SandboxUnavailableError } from '../../outbound/transforms/index.ts';
import { ApiError, limitExceeded, unavailable } from './errors.ts';

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

/** @throws ApiError 503 when the sandbox cannot be used at the moment; 429 when this organization has to wait */
export async function inSandbox<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof LateTurnError) throw unavailable(error.detail);
    if (error instanceof NoTurnError) throw outOfTurn(error);
    if (error instanceof SandboxUnavailableError) throw unavailable(error.detail);
    throw error;
  }
}

function outOfTurn({ detail, waitMs }: NoTurnError): ApiError {
  return limitExceeded('transformMsPerMinute', detail, waitMs / 1000);
}

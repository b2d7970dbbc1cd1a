// Transforms on behalf of a management request: how it is answered when it is not its turn.
import { LateTurnError, NoTurnError, SandboxUnavailableError } from '../../outbound/transforms/index.ts';
import { type ApiError, unavailable } from './errors.ts';
import { limitExceeded } from '../auth/limit-exceeded.ts';

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

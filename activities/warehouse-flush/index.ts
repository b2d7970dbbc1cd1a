// The activities of the workflow `warehouseFlush`.
import { causeOf } from '../../core/process/log-cause.ts';
import { inTurn, isTurnOfOthers, withHeartbeat } from '../activity.ts';
import type { WarehouseActivities, WarehouseReference } from '../types.ts';
import type { FlushDeps } from './deps.ts';
import { finishBatch } from './finish.ts';
import { writeFiles } from './write.ts';

export type { FlushDeps } from './deps.ts';

export function createWarehouseActivities(deps: FlushDeps): WarehouseActivities {
  async function alive<Request extends WarehouseReference, Result>(
    what: string,
    request: Request,
    work: (deps: FlushDeps, request: Request) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await inTurn(deps.places, request.organizationId, () => withHeartbeat(() => work(deps, request)));
    } catch (error) {
      if (isTurnOfOthers(error)) throw error;
      const { organizationId, destinationId } = request;
      deps.log.error(
        { organizationId, destinationId, what, cause: causeOf(error) },
        'a step of a warehouse failed on our own side; it is repeated',
      );
      throw error;
    }
  }
  return {
    writeFiles: (request) => alive('writing files', request, writeFiles),
    finishBatch: (request) => alive('giving up a batch', request, finishBatch),
  };
}

// The activities of the workflow `warehouseFlush`.
import { heartbeat } from '@temporalio/activity';
import type { WarehouseActivities, WarehouseReference } from '../types.ts';
import type { FlushDeps } from './deps.ts';
import { finishBatch } from './finish.ts';
import { prepareBatch } from './prepare.ts';
import { uploadBatch } from './upload.ts';

// Well below the heartbeat timeout of the workflow.
const HEARTBEAT_MS = 4000;

export type { FlushDeps } from './deps.ts';

export function createWarehouseActivities(deps: FlushDeps): WarehouseActivities {
  async function alive<Request extends WarehouseReference, Result>(
    what: string,
    request: Request,
    work: (deps: FlushDeps, request: Request) => Promise<Result>,
  ): Promise<Result> {
    const beat = setInterval(heartbeat, HEARTBEAT_MS);
    try {
      return await work(deps, request);
    } catch (error) {
      const { organizationId, destinationId } = request;
      deps.log.error(
        { organizationId, destinationId, what, error: String(error) },
        'a warehouse waits for our own side',
      );
      throw error;
    } finally {
      clearInterval(beat);
    }
  }
  return {
    prepareBatch: (request) => alive('preparing a batch', request, prepareBatch),
    uploadBatch: (request) => alive('uploading a batch', request, uploadBatch),
    finishBatch: (request) => alive('recording a batch', request, finishBatch),
  };
}

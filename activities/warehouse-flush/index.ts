import { cancellationSignal } from '@temporalio/activity';
import { causeOf } from '../../core/process/log-cause.ts';
import { inTurn, isTurnOfOthers, withHeartbeat } from '../activity.ts';
import type { WarehouseActivities, WarehouseReference, WritingOutcome } from '../types.ts';
import { finishBatch } from './finish.ts';
import { type FlushDeps, prepareBatch } from './prepare.ts';
import { uploadBatch } from './upload.ts';

export function createWarehouseActivities(deps: FlushDeps): WarehouseActivities {
  async function alive<Request extends WarehouseReference, Result>(
    what: string,
    request: Request,
    work: (deps: FlushDeps, request: Request) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await inTurn(deps.slots, request.organizationId, () => withHeartbeat(() => work(deps, request)));
    } catch (error) {
      if (isTurnOfOthers(error)) throw error;
      const { organizationId, destinationId } = request;
      deps.log.error(
        { organizationId, destinationId, what, cause: causeOf(error) },
        'a warehouse step failed in Hookyard; trying again',
      );
      throw error;
    }
  }
  return {
    writeFiles: (request) => alive('writing files', request, writeFiles),
    finishBatch: (request) => alive('giving up on a batch', request, finishBatch),
  };
}

// The files of a warehouse, one after the other while they are due. Each step is found in PostgreSQL, so anyone who
// continues after a crash begins where this one ended. One activity for many files: for each alone, Temporal took as
// much time as the file.

/** When no further file is begun, so that other destinations get the slot. */
const TURN_MS = 4000;

const MORE = { state: 'more' } as const;

/** @throws when our own side is away; then it is repeated */
async function writeFiles(deps: FlushDeps, warehouse: WarehouseReference): Promise<WritingOutcome> {
  const [until, cancelled] = [performance.now() + TURN_MS, cancellationSignal()];
  const isOver = () => performance.now() > until || cancelled.aborted;
  const recorder = createRecorder(deps, warehouse, isOver);
  try {
    const outcome = await whileDue(deps, warehouse, { isOver, recorder });
    return (await recorder.isDone()) ? outcome : MORE;
  } finally {
    // Nothing of it continues after its end.
    await recorder.isDone().catch(() => undefined);
  }
}

async function whileDue(
  deps: FlushDeps,
  warehouse: WarehouseReference,
  { isOver, recorder }: { isOver: () => boolean; recorder: ReturnType<typeof createRecorder> },
): Promise<WritingOutcome> {
  while (!isOver()) {
    const finishing = recorder.batchId();
    const advice = await prepareBatch(deps, { ...warehouse, finishing });
    if (advice.state === 'idle' && finishing !== null) {
      // Nothing waits only when the last deliveries are recorded too.
      await recorder.isDone();
      continue;
    }
    if (advice.state !== 'frozen' && advice.state !== 'uploaded') return advice;
    if (advice.state === 'frozen') {
      const upload = await uploadBatch(deps, { ...warehouse, batchId: advice.batchId });
      if (upload.status === 'failed') return { state: 'refused', batch: advice, upload };
      if (upload.status === 'ended') continue;
    }
    await recorder.begin(advice.batchId);
  }
  return MORE;
}

/**
 * Records the deliveries of one file while the next one is written: one waits for the database, the other for the
 * store.
 */
function createRecorder(deps: FlushDeps, warehouse: WarehouseReference, isOver: () => boolean) {
  let running: { batchId: string; done: Promise<boolean> } | null = null;

  async function record(batchId: string): Promise<boolean> {
    for (;;) {
      if (await finishBatch(deps, { ...warehouse, batchId, outcome: 'delivered' })) return true;
      if (isOver()) return false;
    }
  }

  /** Waits. @returns false when its turn was over before all was recorded */
  async function isDone(): Promise<boolean> {
    if (running === null) return true;
    const isRecorded = await running.done;
    if (isRecorded) running = null;
    return isRecorded;
  }

  return {
    batchId: () => running?.batchId ?? null,
    isDone,
    /**
     * Waits for the one before. When its turn is over before that, nothing is begun: the batch is found by the next
     * turn.
     */
    async begin(batchId: string): Promise<void> {
      if (!(await isDone())) return;
      const done = record(batchId);
      // It is waited for later.
      done.catch(() => undefined);
      running = { batchId, done };
    },
  };
}

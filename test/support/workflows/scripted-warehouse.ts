// A Temporal worker with the real workflow of warehouses and activities that follow a script, on a real server.
import { ownWords } from '../../../core/text/error-summary.ts';
import type { WarehouseActivities, WarehouseAdvice, WritingOutcome } from '../../../activities/types.ts';
import { newId } from '../../../core/text/ids.ts';
import { warehouseTaskQueue, warehouseWorkflowId } from '../../../core/temporal/names.ts';
import type { WarehouseInput } from '../../../workflows/signals-and-queries.ts';
import type { warehouseFlush } from '../../../workflows/warehouse-flush.ts';
import { startWorkers } from './scripted-workers.ts';

/**
 * What the next turn of writing, or record of a failure, answers; an Error means that our own side is away. At the end:
 * idle.
 */
export interface WarehouseScript {
  turns: Iterable<WritingOutcome | Error | Promise<WritingOutcome>>;
  finishes?: Iterable<boolean | Error>;
}

export type ScriptedWarehouses = Awaited<ReturnType<typeof startScriptedWarehouses>>;
export type ScriptedFlush = Awaited<ReturnType<ScriptedWarehouses['start']>>;

export const BATCH_ID = 'bat_00000000000000000000000000';

/** A batch that is to be uploaded. */
export function frozen(
  attempts = 0,
  fields: Partial<Extract<WarehouseAdvice, { state: 'frozen' }>> = {},
): Extract<WarehouseAdvice, { state: 'frozen' }> {
  const waitingSince = Date.now();
  return { state: 'frozen', batchId: BATCH_ID, events: 3, bytes: 300, attempts, waitingSince, error: null, ...fields };
}

export const idle: WritingOutcome = { state: 'idle' };
export const more: WritingOutcome = { state: 'more' };
export const filling = (waitMs: number): WritingOutcome => ({ state: 'filling', waiting: 2, waitMs });
/** An upload of a batch that failed. */
export function refused(retry: 'soon' | 'slowly' | 'never', batch = frozen()): WritingOutcome {
  const error = ownWords`The bucket "events" does not exist; create it, or correct its name`;
  return { state: 'refused', batch, upload: { status: 'failed', error, retry } };
}

interface Running {
  turns: Iterator<WritingOutcome | Error | Promise<WritingOutcome>>;
  finishes: Iterator<boolean | Error>;
  /** The activities that were called, in order; with what is to be recorded. */
  calls: string[];
}

export async function startScriptedWarehouses(taskQueue: string) {
  const scripts = new Map<string, Running>();
  const { client, stop } = await startWorkers(taskQueue, {
    [warehouseTaskQueue(taskQueue)]: scriptedActivities(scripts),
  });
  return {
    client,
    async start({ turns, finishes = [] }: WarehouseScript, changes: Partial<WarehouseInput> = {}) {
      const ids = { organizationId: newId('org'), destinationId: newId('dst_wh') };
      const input = { ...ids, retryMs: 86_400_000, ...changes };
      const running: Running = { turns: thenIdle(turns), finishes: finishes[Symbol.iterator](), calls: [] };
      scripts.set(input.destinationId, running);
      const handle = await client.workflow.start<typeof warehouseFlush>('warehouseFlush', {
        taskQueue,
        workflowId: warehouseWorkflowId(input.destinationId),
        args: [input],
        staticSummary: 'Files for Lake',
      });
      return { handle, calls: running.calls };
    },
    stop,
  };
}

/** Nothing waits any more when the script has ended, however often that is looked at. */
function* thenIdle<Turn>(turns: Iterable<Turn>): Generator<Turn | WritingOutcome> {
  yield* turns;
  for (;;) yield idle;
}

function scriptedActivities(scripts: Map<string, Running>): WarehouseActivities {
  function next<Answer>(
    destinationId: string,
    call: string,
    pick: (running: Running) => Iterator<Answer | Error | Promise<Answer>>,
  ): Answer | Promise<Answer> {
    const running = scripts.get(destinationId);
    if (!running) throw new Error(`No script for ${destinationId}`);
    running.calls.push(call);
    const { value, done } = pick(running).next();
    if (done) throw new Error(`The script has no further answer to ${call}`);
    if (value instanceof Error) throw value;
    return value;
  }
  return {
    writeFiles: async ({ destinationId }) => next(destinationId, 'write', ({ turns }) => turns),
    finishBatch: async ({ destinationId, outcome }) => next(destinationId, outcome, ({ finishes }) => finishes),
  };
}

// A thread of the pool: does one task after the other.
import { parentPort } from 'node:worker_threads';
import { letOthersGoFirst, threadCpuMs } from '../../core/process/threads.ts';
import { passGates, tryFilter, trySchema, validatePayload } from './schemas-and-filters.ts';
import type { ThreadMessage } from './pool.ts';
import { makeRows } from './rows.ts';
import { buffersIn, type ResultOf, type TaskKind, type TaskOf } from './tasks.ts';

const port = parentPort;
if (!port) throw new Error('thread.ts only runs as a worker thread');
letOthersGoFirst();
const tell = (message: ThreadMessage) => port.postMessage(message, buffersIn(message));

/** Libraries of Parquet and of the sandbox are loaded by the first task that needs them. */
const works: {
  [Kind in TaskKind]: (task: TaskOf<Kind>, begin: () => void) => ResultOf<Kind> | Promise<ResultOf<Kind>>;
} = {
  gates: passGates,
  filter: tryFilter,
  validate: validatePayload,
  schema: trySchema,
  rows: makeRows,
  rowGroup: async (task) => (await import('../warehouses/parquet-rows.ts')).encodeRowGroup(task),
  transform: async (task, begin) => (await import('../transforms/run.ts')).runTransform(task, begin),
};

port.on('message', ({ kind, task }: { kind: TaskKind; task: TaskOf<TaskKind> }) => void perform(kind, task));

async function perform<Kind extends TaskKind>(kind: Kind, task: TaskOf<Kind>): Promise<void> {
  const startedAt = threadCpuMs();
  // A transform begins when its sandbox is open.
  const begin = () => tell({ type: 'started', cpuMs: threadCpuMs() });
  if (kind !== 'transform') begin();
  try {
    const result = await works[kind](task, begin);
    tell({ type: 'done', cpuMs: threadCpuMs() - startedAt, result });
  } catch (error) {
    tell({ type: 'failed', cpuMs: threadCpuMs() - startedAt, error: error instanceof Error ? error.name : 'Error' });
  }
}

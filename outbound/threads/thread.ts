// A thread of the pool: does one task after the other.
import { parentPort } from 'node:worker_threads';
import { letOthersGoFirst, threadCpuMs } from '../../core/process/threads.ts';
import { passGates, tryFilter, trySchema, validatePayload } from './schemas-and-filters.ts';
import type { ThreadMessage } from './pool.ts';
import { makeRows } from './rows.ts';
import { buffersIn, type TaskKind, type TaskOf, type TransformTask } from './tasks.ts';
import type { RowGroup } from '../warehouses/parquet-rows.ts';

const port = parentPort;
if (!port) throw new Error('thread.ts only runs as a worker thread');
letOthersGoFirst();
const tell = (message: ThreadMessage) => port.postMessage(message, buffersIn(message));

/** Libraries of Parquet and of the sandbox are loaded by the first task that needs them. */
const works = {
  gates: passGates,
  filter: tryFilter,
  validate: validatePayload,
  schema: trySchema,
  rows: makeRows,
  rowGroup: async (task: RowGroup) => (await import('../warehouses/parquet-rows.ts')).encodeRowGroup(task),
  transform: async (task: TransformTask, begin: () => void) =>
    (await import('../transforms/run.ts')).runTransform(task, begin),
};
export type Works = typeof works;

port.on('message', ({ kind, task }: { kind: TaskKind; task: TaskOf<TaskKind> }) => void perform(kind, task));

async function perform(kind: TaskKind, task: TaskOf<TaskKind>): Promise<void> {
  const startedAt = threadCpuMs();
  // A transform begins when its sandbox is open.
  const begin = () => tell({ type: 'started', cpuMs: threadCpuMs() });
  if (kind !== 'transform') begin();
  try {
    const work = works[kind] as (task: TaskOf<TaskKind>, begin: () => void) => ReturnType<Works[TaskKind]>;
    const result = await work(task, begin);
    tell({ type: 'done', cpuMs: threadCpuMs() - startedAt, result });
  } catch (error) {
    tell({ type: 'failed', cpuMs: threadCpuMs() - startedAt, error: error instanceof Error ? error.name : 'Error' });
  }
}

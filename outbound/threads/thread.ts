// A thread of the pool: does one task after the other.
import { parentPort } from 'node:worker_threads';
import { letOthersGoFirst, threadCpuMs } from '../../core/process/threads.ts';
import { passGates, tryFilter, trySchema, validatePayload } from './schemas-and-filters.ts';
import type { ThreadMessage } from './pool.ts';
import { makeRows } from './rows.ts';
import { buffersIn, type ResultOf, type Task, type TaskKind } from './tasks.ts';

const port = parentPort;
if (!port) throw new Error('thread.ts only runs as a worker thread');
letOthersGoFirst();
const tell = (message: ThreadMessage) => port.postMessage(message, buffersIn(message));

port.on('message', (task: Task) => void work(task));

async function work(task: Task): Promise<void> {
  const startedAt = threadCpuMs();
  // A transform begins when its sandbox is open.
  const begin = () => tell({ type: 'started', cpuMs: threadCpuMs() });
  if (task.kind !== 'transform') begin();
  try {
    const result = await perform(task, begin);
    tell({ type: 'done', cpuMs: threadCpuMs() - startedAt, result });
  } catch (error) {
    tell({ type: 'failed', cpuMs: threadCpuMs() - startedAt, error: error instanceof Error ? error.name : 'Error' });
  }
}

/** Libraries of Parquet and of the sandbox are loaded by the first task that needs them. */
async function perform(task: Task, begin: () => void): Promise<ResultOf<TaskKind>> {
  switch (task.kind) {
    case 'gates':
      return passGates(task);
    case 'filter':
      return tryFilter(task);
    case 'validate':
      return validatePayload(task);
    case 'schema':
      return trySchema(task);
    case 'rows':
      return makeRows(task);
    case 'rowGroup':
      return (await import('../warehouses/parquet-rows.ts')).encodeRowGroup(task);
    case 'transform':
      return (await import('../transforms/run.ts')).runTransform(task, begin);
  }
}

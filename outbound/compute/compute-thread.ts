// A thread for filters, schemas and mappings: does one task after the other.
import { parentPort } from 'node:worker_threads';
import { letOthersGoFirst, threadCpuMs } from '../../core/process/threads.ts';
import { tryFilter } from './filter-task.ts';
import { passGates } from './gates-task.ts';
import { makeRows } from './rows-task.ts';
import { checkStoredSchema, trySchema, validatePayload } from './schema-tasks.ts';
import type { EncodedRowGroup } from '../parquet/row-group.ts';
import type { ThreadMessage } from '../thread-pool.ts';
import type { Results, RowGroupTask, Task } from './types.ts';

const port = parentPort;
if (!port) throw new Error('compute-thread.ts runs as a worker thread only');
letOthersGoFirst();
const tell = (message: ThreadMessage<Results[Task['kind']]>, handedOver: ArrayBuffer[] = []) =>
  port.postMessage(message, handedOver);

port.on('message', (task: Task) => void work(task));

async function work(task: Task): Promise<void> {
  const startedAt = threadCpuMs();
  tell({ type: 'started', cpuMs: startedAt });
  try {
    const result = await perform(task);
    tell({ type: 'done', cpuMs: threadCpuMs() - startedAt, result }, buffersOf(result));
  } catch (error) {
    tell({ type: 'failed', cpuMs: threadCpuMs() - startedAt, error: error instanceof Error ? error.name : 'Error' });
  }
}

/** What need not be copied. */
function buffersOf(result: Results[Task['kind']]): ArrayBuffer[] {
  if (result === null || typeof result !== 'object') return [];
  const made = Array.isArray(result) ? result : [result];
  return made.flatMap((each) => ('bytes' in each ? [each.bytes.buffer as ArrayBuffer] : []));
}

/** Its library is loaded by the first file that needs it. */
async function encodeRowGroup(task: RowGroupTask): Promise<EncodedRowGroup> {
  return (await import('../parquet/row-group.ts')).encodeRowGroup(task);
}

function perform(task: Task): Results[Task['kind']] | Promise<Results[Task['kind']]> {
  switch (task.kind) {
    case 'gates':
      return passGates(task);
    case 'filter':
      return tryFilter(task);
    case 'schema':
      return checkStoredSchema(task);
    case 'validate':
      return validatePayload(task);
    case 'schemaTrial':
      return trySchema(task);
    case 'rows':
      return makeRows(task);
    case 'rowGroup':
      return encodeRowGroup(task);
  }
}

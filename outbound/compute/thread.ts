// A thread for filters, schemas and mappings: does one task after the other.
import { parentPort } from 'node:worker_threads';
import { letOthersGoFirst } from '../../core/thread-priority.ts';
import { threadCpuMs } from '../../core/thread-time.ts';
import { tryFilter } from './filter-task.ts';
import { passGates } from './gates-task.ts';
import { makeRows } from './rows-task.ts';
import { checkStoredSchema, validatePayload } from './schema-tasks.ts';
import type { Results, Task, ThreadMessage } from './types.ts';

const port = parentPort;
if (!port) throw new Error('thread.ts runs as a worker thread only');
letOthersGoFirst();
const tell = (message: ThreadMessage, handedOver: ArrayBuffer[] = []) => port.postMessage(message, handedOver);

port.on('message', (task: Task) => {
  const startedAt = threadCpuMs();
  tell({ type: 'started', cpuMs: startedAt });
  try {
    const result = perform(task);
    tell({ type: 'done', cpuMs: threadCpuMs() - startedAt, result }, buffersOf(result));
  } catch (error) {
    tell({ type: 'failed', cpuMs: threadCpuMs() - startedAt, error: error instanceof Error ? error.name : 'Error' });
  }
});
tell({ type: 'ready' });

/** What need not be copied. */
function buffersOf(result: Results[Task['kind']]): ArrayBuffer[] {
  if (!Array.isArray(result)) return [];
  return result.flatMap((made) => ('bytes' in made ? [made.bytes.buffer as ArrayBuffer] : []));
}

function perform(task: Task): Results[Task['kind']] {
  switch (task.kind) {
    case 'gates':
      return passGates(task);
    case 'filter':
      return tryFilter(task);
    case 'schema':
      return checkStoredSchema(task);
    case 'validate':
      return validatePayload(task);
    case 'rows':
      return makeRows(task);
  }
}

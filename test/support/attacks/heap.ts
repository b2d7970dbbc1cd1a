// What a process of ours holds on to: its memory right after a garbage collection, asked for over Node's inspector.
import type { Service } from '../service.ts';
import { until } from '../until.ts';

/** Environment of a process that is to be measured. */
export const INSPECTED = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/** Bytes in use after a collection: objects and buffers. */
export async function heldBytes(service: Service): Promise<number> {
  const url = await until('the inspector', () => /ws:\/\/127\.0\.0\.1:\S+/.exec(service.output())?.[0]);
  const socket = new WebSocket(url);
  await once(socket, 'open');
  try {
    // Twice: the first one may leave what finalizers let go of.
    for (let n = 0; n < 2; n += 1) await call(socket, n, 'HeapProfiler.collectGarbage', {});
    const expression = '(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())';
    const answer = await call(socket, 2, 'Runtime.evaluate', { expression, returnByValue: true });
    const value = answer.result?.result?.value;
    if (typeof value !== 'number') throw new Error(`the inspector answered ${JSON.stringify(answer)}`);
    return value;
  } finally {
    socket.close();
  }
}

interface InspectorAnswer {
  id?: number;
  result?: { result?: { value?: unknown } };
}

async function call(socket: WebSocket, id: number, method: string, params: object): Promise<InspectorAnswer> {
  const answered = new Promise<InspectorAnswer>((resolve) => {
    socket.addEventListener('message', function read(event) {
      const answer = JSON.parse(String(event.data)) as InspectorAnswer;
      if (answer.id !== id) return;
      socket.removeEventListener('message', read);
      resolve(answer);
    });
  });
  socket.send(JSON.stringify({ id, method, params }));
  return answered;
}

function once(socket: WebSocket, event: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.addEventListener(event, () => resolve(), { once: true });
    socket.addEventListener('error', () => reject(new Error('the inspector cannot be reached')), { once: true });
  });
}

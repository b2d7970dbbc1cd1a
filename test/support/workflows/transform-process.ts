// A process that runs a transform each time it is told to, and says how that ended.
import { createInterface } from 'node:readline';
import { busy, testThreads } from '../threads.ts';

const transforms = testThreads(1);
const transform = { key: 'trf_1:1', type: 'javascript', code: busy(8), outputContentType: null } as const;
const event = {
  id: 'evt_1',
  source: 'orders',
  method: 'POST',
  path: '',
  query: '',
  headers: {},
  body: Buffer.from('{}'),
  receivedAt: new Date(0),
};

for await (const _ of createInterface(process.stdin)) {
  console.log('begins');
  const { ok, durationMs } = await transforms.runTransform(transform, event, 'org_1');
  console.log(JSON.stringify({ ok, durationMs }));
}
await transforms.close();

// Deadlines of threads go by processor time: work that others keep from the processor is not ended for it.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { endInTime } from '../../outbound/threads/pool.ts';

const start = async (code: string) => {
  const worker = new Worker(code, { eval: true });
  const [cpuAtStart] = (await once(worker, 'message')) as [number];
  return { worker, cpuAtStart };
};
const TELL = `
  const { user, system } = process.threadCpuUsage();
  require('node:worker_threads').parentPort.postMessage((user + system) / 1000);`;
const BURN = `${TELL} for (;;);`;
const STAND_STILL = `${TELL} Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`;

describe('the deadline of a thread', () => {
  let worker: Worker;
  afterEach(() => worker.terminate());

  /** @returns processor time that the thread had used when it was to end, and how long that took, in ms */
  const ended = async (code: string, cpuMs: number, wallMs: number) => {
    const started = await start(code);
    ({ worker } = started);
    const begin = performance.now();
    await new Promise<void>((resolve) => {
      endInTime(worker, { cpuMs, wallMs }, started.cpuAtStart, resolve);
    });
    return { cpuAtStart: started.cpuAtStart, tookMs: performance.now() - begin };
  };

  it('ends one that has used its processor time', async () => {
    const { cpuAtStart } = await ended(BURN, 200, 60_000);
    const { user, system } = await worker.cpuUsage();
    expect((user + system) / 1000 - cpuAtStart).to.be.at.least(200);
  });

  it('leaves one alone that does not get the processor, until the clock ends it', async () => {
    const { tookMs } = await ended(STAND_STILL, 50, 400);
    expect(tookMs).to.be.at.least(395);
  });

  it('does nothing once the work has ended', async () => {
    const started = await start(BURN);
    ({ worker } = started);
    let isEnded = false;
    const done = endInTime(worker, { cpuMs: 50, wallMs: 100 }, started.cpuAtStart, () => {
      isEnded = true;
    });
    done();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(isEnded).to.equal(false);
  });
});

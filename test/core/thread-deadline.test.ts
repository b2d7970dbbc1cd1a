// Deadlines of threads go by processor time: work that others keep from the processor is not ended for it.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { endInTime } from '../../outbound/threads/pool.ts';

const TELL = `
  const { user, system } = process.threadCpuUsage();
  require('node:worker_threads').parentPort.postMessage((user + system) / 1000);`;
const BURN = `${TELL} for (;;);`;
const STAND_STILL = `${TELL} Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`;

describe('the deadline of a thread', () => {
  let worker: Worker;
  let cpuAtStart: number;
  let workEnds: (() => void)[];
  beforeEach(() => {
    workEnds = [];
  });
  afterEach(async () => {
    for (const end of workEnds) end();
    await worker.terminate();
  });

  async function start(code: string): Promise<void> {
    worker = new Worker(code, { eval: true });
    [cpuAtStart] = (await once(worker, 'message')) as [number];
  }

  /** Resolves when the thread is to end by these limits. */
  const overrun = (cpuMs: number, wallMs: number) =>
    new Promise<string>((resolve) => {
      workEnds.push(endInTime(worker, { cpuMs, wallMs }, cpuAtStart, () => resolve(`${wallMs} ms`)));
    });

  it('ends one that has used its processor time', async () => {
    await start(BURN);
    await overrun(200, 60_000);
    const { user, system } = await worker.cpuUsage();
    expect((user + system) / 1000 - cpuAtStart).to.be.at.least(200);
  });

  it('leaves one alone that does not get the processor, until the clock ends it', async () => {
    await start(STAND_STILL);
    expect(await Promise.race([overrun(50, 60_000), overrun(50, 400)])).to.equal('400 ms');
  });

  it('does nothing once the work has ended', async () => {
    await start(BURN);
    let isEnded = false;
    void overrun(50, 100).then(() => {
      isEnded = true;
    });
    for (const end of workEnds) end();
    // The deadline of the work that has ended was before this one.
    await overrun(200, 60_000);
    expect(isEnded).to.equal(false);
  });
});

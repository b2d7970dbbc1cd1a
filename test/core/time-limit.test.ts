import { expect } from 'chai';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { readdirSync, readFileSync } from 'node:fs';
import { BudgetError, STEPS_PER_MS } from '../../core/fairness/budget.ts';
import { TimedBudget, TimeLimitError, withinTime } from '../../core/fairness/time-limit.ts';
import { threadCpuMs } from '../../core/process/event-loop.ts';
import { endInTime } from '../../outbound/threads/pool.ts';
import { testThreads } from '../support/threads.ts';

/** Uses processor time. @param cpuMs of this thread */
function burn(cpuMs: number): void {
  const before = threadCpuMs();
  while (threadCpuMs() - before < cpuMs);
}

describe('a time limit', () => {
  it('gives what the work returns or throws', () => {
    expect(withinTime(10_000, () => [1])).to.deep.equal([1]);
    const mistake = new RangeError('of the work');
    expect(() => withinTime(10_000, () => expect.fail('own'))).to.throw('own');
    try {
      withinTime(10_000, () => {
        throw mistake;
      });
      expect.fail('nothing was thrown');
    } catch (error) {
      expect(error).to.equal(mistake);
    }
  });

  it('begins work again that had a part of its time only', () => {
    const standStill = new Int32Array(new SharedArrayBuffer(4));
    let tries = 0;
    const work = () => {
      tries += 1;
      burn(20);
      if (tries === 1) Atomics.wait(standStill, 0, 0, 300);
      return 'done';
    };
    expect(withinTime(100, work)).to.equal('done');
    // More on a machine that does much else.
    expect(tries).to.be.at.least(2);
  });

  it('ends a loop and a regular expression that backtracks, and can be used again', () => {
    expect(() =>
      withinTime(50, () => {
        for (;;);
      }),
    ).to.throw(TimeLimitError, 'did not finish within 50 ms');
    expect(() => withinTime(50, () => /^(a+)+$/.test(`${'a'.repeat(100)}!`))).to.throw(TimeLimitError);
    expect(withinTime(10_000, () => 'done')).to.equal('done');
  });
});

describe('a budget that is measured', () => {
  const LARGE = 1e9 * STEPS_PER_MS;

  it('takes off the bound of small work, and of large work the time that it took', () => {
    const budget = new TimedBudget(1000);
    expect(budget.attempt(STEPS_PER_MS, () => 'small')).to.equal('small');
    expect(budget.leftMs).to.equal(999);
    const work = () => {
      burn(20);
      return 'large';
    };
    expect(budget.attempt(LARGE, work)).to.equal('large');
    expect(budget.leftMs).to.be.within(700, 980);
    const before = threadCpuMs();
    burn(20);
    budget.took(before);
    expect(budget.leftMs).to.be.within(400, 960);
  });

  it('interrupts large work when it ends, and has nothing left for what follows', () => {
    const budget = new TimedBudget(30);
    const endless = () => {
      for (;;);
    };
    expect(() => budget.attempt(LARGE, endless)).to.throw(BudgetError);
    expect(budget.leftMs).to.equal(0);
    expect(() => budget.spend(1)).to.throw(BudgetError);
    const failing = new TimedBudget(1000);
    expect(() => failing.attempt(LARGE, () => expect.fail('own'))).to.throw('own');
    expect(failing.leftMs).to.be.above(0);
  });
});

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

/** The niceness of each thread of this process, by the number of threads that have it. */
function niceness(): Map<number, number> {
  const counts = new Map<number, number>();
  for (const id of readdirSync('/proc/self/task')) {
    // The name, in parentheses, may have spaces; niceness is the 19th member, and the 17th behind the name
    // (proc_pid_stat(5)).
    const [, rest = ''] = /\) (.*)/.exec(readFileSync(`/proc/self/task/${id}/stat`, 'utf8')) ?? [];
    const nice = Number(rest.split(' ')[16]);
    counts.set(nice, (counts.get(nice) ?? 0) + 1);
  }
  return counts;
}

describe('the priority of threads', () => {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  const lowered = () => [...niceness()].reduce((sum, [nice, count]) => sum + (nice > 0 ? count : 0), 0);

  it('is lower where transforms, filters, schemas and mappings are worked on', async () => {
    const before = lowered();
    const threads = testThreads(1);
    try {
      await threads.checkTransform({ type: 'javascript', code: 'export default (event) => event' }, 'org_1');
      await threads.schemaProblem('org_1', { type: 'object' });
      expect(lowered()).to.equal(before + 1);
      expect(niceness().get(0)).to.be.at.least(1);
    } finally {
      await threads.close();
    }
  });
});

import { expect } from 'chai';
import { threadCpuMs } from '../../core/process/threads.ts';
import { BudgetError, STEPS_PER_MS } from '../../core/fairness/budget.ts';
import { TimedBudget, TimeLimitError, withinTime } from '../../core/fairness/time-limit.ts';

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

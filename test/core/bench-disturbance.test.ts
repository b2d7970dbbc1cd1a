// What others take of the machine during a bench, and what is measured again because of it.
import { expect } from 'chai';
import { describeDisturbance, type Taken, undisturbed } from '../../bench/support/undisturbed.ts';

/** Meters that read these shares, one after the other. */
const reading = (...shares: (Taken | undefined)[]) => {
  const left = [...shares];
  return () => () => left.shift();
};
const taken = (hypervisor: number, programs = 0): Taken => ({ hypervisor, programs });

describe('a measurement of a bench', () => {
  /** Runs it, and gives the number of the try that is kept and how many were made. */
  async function run(start: () => () => Taken | undefined, repeats = 2): Promise<{ result: number; tries: number }> {
    let tries = 0;
    const result = await undisturbed('a round', { repeats }, async () => ++tries, start);
    return { result, tries };
  }

  it('is made once while others take little, and again while they take more than 5 % together', async () => {
    expect(await run(reading(taken(2, 2.9)))).to.deep.equal({ result: 1, tries: 1 });
    expect(await run(reading(taken(3, 2.1), taken(0, 9), taken(1)))).to.deep.equal({ result: 3, tries: 3 });
  });

  it('is given up after its repeats, and the least disturbed try is kept and said to be disturbed', async () => {
    expect(await run(reading(taken(30), taken(6), taken(20)))).to.deep.equal({ result: 2, tries: 3 });
    expect(describeDisturbance()).to.match(/6\.0 %; 4 repeated\n.*measure again in a quieter hour$/s);
  });

  it('is not repeated when no repeats are wanted, or nothing is counted', async () => {
    expect(await run(reading(taken(30)), 0)).to.deep.equal({ result: 1, tries: 1 });
    expect(await run(reading(undefined))).to.deep.equal({ result: 1, tries: 1 });
  });
});

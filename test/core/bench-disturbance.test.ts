// What others take of the machine during a bench, and what is measured again because of it.
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { describeMachine, machineLine } from '../../bench/support/machine.ts';
import { startMeter, type Taken, ticksOfOthers } from '../../bench/support/taken.ts';
import { disturbance, undisturbed } from '../../bench/support/undisturbed.ts';

const BURNT_MS = 300;
// Burns CPU, says so, and stays, so that its time is still its own.
const BURN = `
  while (process.cpuUsage().user + process.cpuUsage().system < ${BURNT_MS * 1000});
  process.stdout.write('burnt ' + process.pid + '\\n');
  setTimeout(() => {}, 20_000);`;

/** Meters that read these shares, one after the other. */
const reading = (...shares: (Taken | undefined)[]) => {
  const left = [...shares];
  return () => () => left.shift();
};
const taken = (hypervisor: number, programs = 0): Taken => ({ hypervisor, programs });

describe('the time that others take', () => {
  it('is that of processes which the bench did not start, without the threads of the kernel', () => {
    const processes = [
      { pid: 1, parent: 0, ticks: 1 },
      { pid: 2, parent: 0, ticks: 1000 },
      { pid: 20, parent: 2, ticks: 1000 },
      { pid: 30, parent: 1, ticks: 10 },
      { pid: 40, parent: 30, ticks: 2000 },
      { pid: 41, parent: 40, ticks: 2000 },
      { pid: 42, parent: 41, ticks: 2000 },
      { pid: 50, parent: 30, ticks: 100 },
      // Its parent has ended between two readings.
      { pid: 60, parent: 59, ticks: 10_000 },
    ];
    expect(ticksOfOthers(processes, 40)).to.equal(10_111);
  });

  it('is measured on this machine', async function () {
    if (process.platform !== 'linux') this.skip();
    const startedAt = performance.now();
    const read = startMeter();
    // The shell ends at once, so that the program is no descendant of this process any more.
    const shell = spawn('sh', ['-c', '"$0" -e "$1" &', process.execPath, BURN], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = (await once(shell.stdout, 'data')) as [Buffer];
    const pid = Number(/burnt (\d+)/.exec(said.toString())?.[1]);
    try {
      const { programs } = read() ?? taken(Number.NaN, Number.NaN);
      const elapsed = performance.now() - startedAt;
      // The clock of the kernel ticks every 10 ms.
      expect((programs / 100) * elapsed * availableParallelism()).to.be.at.least(BURNT_MS * 0.8);
    } finally {
      process.kill(pid, 'SIGKILL');
    }
  });
});

describe('a measurement of a bench', () => {
  /** Runs it, and gives the number of the try that is kept and how many were made. */
  async function run(start: () => () => Taken | undefined, repeats = 2): Promise<{ result: number; tries: number }> {
    let tries = 0;
    const result = await undisturbed('a round', { repeats }, async () => ++tries, start);
    return { result, tries };
  }

  it('is made once while others take little', async () => {
    expect(await run(reading(taken(2, 2.9)))).to.deep.equal({ result: 1, tries: 1 });
  });

  it('is repeated while others take more than 5 % together', async () => {
    expect(await run(reading(taken(3, 2.1), taken(0, 9), taken(1)))).to.deep.equal({ result: 3, tries: 3 });
  });

  it('is given up after its repeats, and the least disturbed try is kept and said to be disturbed', async () => {
    expect(await run(reading(taken(30), taken(6), taken(20)))).to.deep.equal({ result: 2, tries: 3 });
    const { kept, isQuiet } = disturbance();
    expect(kept.at(-1)).to.deep.equal({ label: 'a round', taken: taken(6), tries: 3 });
    expect(isQuiet).to.equal(false);
  });

  it('is not repeated when no repeats are wanted, or nothing is counted', async () => {
    expect(await run(reading(taken(30)), 0)).to.deep.equal({ result: 1, tries: 1 });
    expect(await run(reading(undefined))).to.deep.equal({ result: 1, tries: 1 });
  });
});

describe('the machine of a bench', () => {
  it('is described in one line with date, processor and versions', () => {
    const { versions } = describeMachine();
    expect(versions.temporal).to.match(/^\d+\.\d+\.\d+/);
    expect(versions.postgresql).to.match(/^\d+\.\d+/);
    expect(machineLine()).to.match(
      /^\d{4}-\d\d-\d\dT\d\d:\d\dZ; \d+ cores \(.+\), \d+ GiB, \S+ \S+; Hookyard \d.*, Node v\d+.*, PostgreSQL \d+.*, Temporal \d+/,
    );
  });
});

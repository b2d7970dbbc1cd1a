// `npm test -- --times`: mocha's usual output, and at the end how long each file took, the slowest first, and how much of a
// processor it and the processes that it started and ended used, where /proc tells. Both include what a file does in its hooks.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import mocha, { type MochaOptions, type Runner, type Suite } from 'mocha';

// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html: user and system time, and those of children that were waited for.
const CPU_FIELDS = [11, 12, 13, 14];
const TICKS_PER_SECOND = 100;

const { EVENT_RUN_END, EVENT_SUITE_BEGIN, EVENT_SUITE_END } = mocha.Runner.constants;

export default class FileTimes extends mocha.reporters.Spec {
  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    const used = new Map<string, Used>();
    const began = new Map<Suite, Used>();
    runner.on(EVENT_SUITE_BEGIN, (suite) => began.set(suite, now()));
    runner.on(EVENT_SUITE_END, (suite) => {
      // A file may hold several outermost suites.
      if (!suite.parent?.root || suite.file === undefined) return;
      const { seconds, cpu } = now();
      const then = began.get(suite) ?? { seconds, cpu };
      const before = used.get(suite.file) ?? { seconds: 0, cpu: 0 };
      used.set(suite.file, { seconds: before.seconds + seconds - then.seconds, cpu: before.cpu + cpu - then.cpu });
    });
    runner.on(EVENT_RUN_END, () => {
      const slowestFirst = [...used].toSorted(([, one], [, other]) => other.seconds - one.seconds);
      const lines = slowestFirst.map(([file, { seconds, cpu }]) =>
        [`${seconds.toFixed(1).padStart(8)} s`, `${cpu.toFixed(1).padStart(6)} s CPU`, relative('.', file)].join('  '),
      );
      console.log(['  seconds per file:', ...lines, ''].join('\n'));
    });
  }
}

interface Used {
  seconds: number;
  cpu: number;
}

function now(): Used {
  return { seconds: performance.now() / 1000, cpu: cpuSeconds() };
}

/** @returns of this process and of its children that have ended; 0 where there is no /proc */
function cpuSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return CPU_FIELDS.reduce((sum, index) => sum + Number(fields[index]), 0) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}

// What mocha reports to test/run.ts: how many tests passed and which files failed, in the file that TEST_REPORT names.
// With `--times` it also shows at the end how long each file took, the slowest first, and how much of a processor it
// and the processes that it started and ended used, where /proc tells. Both include what a file does in its hooks.
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import mocha, { type MochaOptions, type Runner, type Suite, type Test } from 'mocha';

// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html: user and system time, and those of children that were
// waited for.
const CPU_FIELDS = [11, 12, 13, 14];
const TICKS_PER_SECOND = 100;

const { EVENT_RUN_END, EVENT_SUITE_BEGIN, EVENT_SUITE_END, EVENT_TEST_FAIL } = mocha.Runner.constants;

export interface TestReport {
  passed: number;
  failed: number;
  /** With a failure in a test or a hook; paths from the project. */
  failedFiles: string[];
}

export default class Reporter extends mocha.reporters.Spec {
  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    const failedFiles = new Set<string>();
    runner.on(EVENT_TEST_FAIL, (test: Test) => {
      const file = test.file ?? test.parent?.file;
      if (file !== undefined) failedFiles.add(relative('.', file));
    });
    runner.on(EVENT_RUN_END, () => {
      const { passes: passed, failures: failed } = this.stats;
      const report: TestReport = { passed, failed, failedFiles: [...failedFiles] };
      if (process.env.TEST_REPORT) writeFileSync(process.env.TEST_REPORT, JSON.stringify(report));
    });
    if (process.env.TEST_TIMES) showTimes(runner);
  }
}

function showTimes(runner: Runner): void {
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

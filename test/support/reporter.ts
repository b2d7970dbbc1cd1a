// What mocha reports to test/run.ts: how many tests passed and which files failed, in the file that TEST_REPORT names.
// With `--times` it also shows at the end how long each file took with its hooks, the slowest first.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import mocha, { type MochaOptions, type Runner, type Suite, type Test } from 'mocha';

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
  const used = new Map<string, number>();
  const began = new Map<Suite, number>();
  runner.on(EVENT_SUITE_BEGIN, (suite) => began.set(suite, performance.now()));
  runner.on(EVENT_SUITE_END, (suite) => {
    // A file may hold several outermost suites.
    if (!suite.parent?.root || suite.file === undefined) return;
    const ms = performance.now() - (began.get(suite) ?? 0);
    used.set(suite.file, (used.get(suite.file) ?? 0) + ms);
  });
  runner.on(EVENT_RUN_END, () => {
    const slowestFirst = [...used].toSorted(([, one], [, other]) => other - one);
    const lines = slowestFirst.map(([file, ms]) => `${(ms / 1000).toFixed(1).padStart(8)} s  ${relative('.', file)}`);
    console.log(['  seconds per file:', ...lines, ''].join('\n'));
  });
}

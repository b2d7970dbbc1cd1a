// `npm test -- --times`: mocha's usual output, and at the end how long each file took, the slowest first. The times include
// what a file starts and stops in its hooks.
import { relative } from 'node:path';
import mocha, { type MochaOptions, type Runner, type Suite } from 'mocha';

const { EVENT_RUN_END, EVENT_SUITE_BEGIN, EVENT_SUITE_END } = mocha.Runner.constants;

export default class FileTimes extends mocha.reporters.Spec {
  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    const seconds = new Map<string, number>();
    const began = new Map<Suite, number>();
    runner.on(EVENT_SUITE_BEGIN, (suite) => began.set(suite, performance.now()));
    runner.on(EVENT_SUITE_END, (suite) => {
      // A file may hold several outermost suites.
      if (!suite.parent?.root || suite.file === undefined) return;
      const took = (performance.now() - (began.get(suite) ?? 0)) / 1000;
      seconds.set(suite.file, (seconds.get(suite.file) ?? 0) + took);
    });
    runner.on(EVENT_RUN_END, () => {
      const slowestFirst = [...seconds].toSorted(([, one], [, other]) => other - one);
      const lines = slowestFirst.map(([file, s]) => `${s.toFixed(1).padStart(8)} s  ${relative('.', file)}`);
      console.log(['  seconds per file:', ...lines, ''].join('\n'));
    });
  }
}

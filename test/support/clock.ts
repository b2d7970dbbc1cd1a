// A clock that only a test moves: timers, `Date` and `performance.now()` of this process.
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * Stops the clock for the tests of this `describe`. Nothing in them may wait for real time, as `until` does.
 * @returns `pass` lets time pass, ms, and runs what becomes due; during `stall` the event loop is busy
 */
export function useClock() {
  let stalledMs = 0;
  let stopped: ReturnType<typeof mock.method> | undefined;
  beforeEach('the clock is stopped', () => {
    const [startedAt, now] = [Math.ceil(performance.now()), Date.now()];
    stalledMs = 0;
    mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now });
    stopped = mock.method(performance, 'now', () => startedAt + Date.now() - now + stalledMs);
    // Stops what was imported by name, too.
    syncBuiltinESMExports();
  });
  afterEach('the clock continues', () => {
    mock.timers.reset();
    stopped?.mock.restore();
    syncBuiltinESMExports();
  });
  return {
    async pass(ms: number): Promise<void> {
      await turn();
      for (let passed = 0; passed < ms; passed += 1) {
        mock.timers.tick(1);
        await turn();
      }
    },
    stall(ms: number): void {
      stalledMs += ms;
    },
  };
}

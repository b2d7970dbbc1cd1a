// A deadline for synchronous code: the engine interrupts what runs longer, be it a loop or a regular expression. And a
// budget for a thread, where long work disturbs nobody: what is only bounded from above is measured instead, and
// interrupted when the budget ends.
import { threadCpuMs } from '../process/event-loop.ts';
import { createContext, Script } from 'node:vm';
import { STEPS_PER_MS, Budget } from './budget.ts';

// Below it the measurement costs more than the work.
const MEASURED_STEPS = 5 * STEPS_PER_MS;

export class TimedBudget extends Budget {
  override attempt<Result>(steps: number, work: () => Result): Result {
    if (steps < MEASURED_STEPS) return super.attempt(steps, work);
    this.spend(1);
    const before = threadCpuMs();
    try {
      return withinTime(Math.max(1, Math.ceil(this.leftMs)), work);
    } catch (error) {
      if (error instanceof TimeLimitError) this.spend(Number.POSITIVE_INFINITY);
      throw error;
    } finally {
      this.took(before);
    }
  }

  /**
   * Takes off what the thread has done since `before`, its processor time then, in ms; when that is more than was left,
   * nothing is left for what follows.
   */
  took(before: number): void {
    this.takeOff((threadCpuMs() - before) * STEPS_PER_MS);
  }
}

export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
}

// The function is called from a script, because only scripts can be given a deadline; it still runs in its own realm.
const caller = new Script('run()');
const idle = (): void => undefined;
const context = createContext({ run: idle });

// The engine measures time on the clock, also while other programs run; work that got too little processor time starts
// over, with as much more time as it was kept from the processor.
const MAX_TRIES = 3;
const MAX_STRETCH = 4;
// So that a machine which is a little busier meanwhile needs no third try.
const MARGIN = 1.5;
// The last steps of the measurement are not the work's.
const NEARLY = 0.9;

/**
 * Costs about half a millisecond (a watchdog thread), so it is for work that may be long.
 * @param limitMs after this much processor time it is interrupted, wherever it is; on the clock after nine times as
 * much at the latest
 * @param work must be repeatable: it may be interrupted and restarted
 * @throws TimeLimitError, or what the function throws
 */
export function withinTime<T>(limitMs: number, work: () => T): T {
  let clockMs = limitMs;
  for (let tries = 1; ; tries += 1) {
    const before = threadCpuMs();
    try {
      return interruptAfter(clockMs, work);
    } catch (error) {
      if (!isTimeout(error)) throw error;
      const usedMs = threadCpuMs() - before;
      const hadItsTime = usedMs >= limitMs * NEARLY;
      if (hadItsTime || tries === MAX_TRIES) throw new TimeLimitError(`did not finish within ${limitMs} ms`);
      clockMs = Math.ceil(Math.min(limitMs * MAX_STRETCH, ((clockMs * limitMs) / Math.max(usedMs, 1)) * MARGIN));
    }
  }
}

function interruptAfter<T>(limitMs: number, work: () => T): T {
  const outcome: { value?: T } = {};
  context.run = () => {
    outcome.value = work();
  };
  try {
    caller.runInContext(context, { timeout: limitMs });
  } finally {
    context.run = idle;
  }
  return outcome.value as T;
}

// The engine makes this error in the script's own realm, so it is not an instance of our Error.
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}

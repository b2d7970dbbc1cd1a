// How much work one task may do, counted in steps before each piece of work is done: the same input ends at the same step on every
// machine, however busy it is. Clocks are the second line (`withinTime`, outbound/threads/).
import { threadCpuMs } from '../process/threads.ts';
import { createContext, Script } from 'node:vm';

/** The steps that take about a millisecond: a step is one value looked at, or a few dozen characters compared. */
export const STEPS_PER_MS = 50_000;

/** Steps for each byte of JSON that is parsed: measured. */
export const PARSE_STEPS = 1;

/** The work is larger than its budget; the message says what, as the end of a sentence. */
export class BudgetError extends Error {
  override readonly name = 'BudgetError';
}

const TOO_MUCH = 'it is more work than the filters and schemas of one webhook may make together';

export class Budget {
  #left: number;

  /** @param ms about how long the work may take */
  constructor(ms: number) {
    this.#left = ms * STEPS_PER_MS;
  }

  /** Announces work of so many steps. @throws BudgetError when that is more than is left; so does all that follows */
  spend(steps: number): void {
    this.takeOff(steps);
    if (this.#left < 0) throw new BudgetError(TOO_MUCH);
  }

  /** Counts work that is done. */
  protected takeOff(steps: number): void {
    this.#left -= steps;
  }

  /** Does work of which only an upper bound is known. @param steps the bound @throws BudgetError */
  attempt<Result>(steps: number, work: () => Result): Result {
    this.spend(steps);
    return work();
  }

  /** What is left, in ms. */
  get leftMs(): number {
    return Math.max(0, this.#left / STEPS_PER_MS);
  }
}

/** For work that something else bounds. */
export const NO_LIMIT = new Budget(Number.POSITIVE_INFINITY);

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

  /** Takes off what the thread has done since `before`, its processor time then, in ms; when that is more than was left, nothing is left for what follows. */
  took(before: number): void {
    this.takeOff((threadCpuMs() - before) * STEPS_PER_MS);
  }
}

/** The code exceeded its time limit. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
}

// The function is called from a script, because only scripts can be given a deadline; it still runs in its own realm.
const caller = new Script('run()');
const idle = (): void => undefined;
const context = createContext({ run: idle });

// The engine measures time on the clock, also while other programs run; work that got too little processor time starts over, with as
// much more time as it was kept from the processor.
const MAX_TRIES = 3;
const MAX_STRETCH = 4;
// So that a machine which is a little busier meanwhile needs no third try.
const MARGIN = 1.5;
// The last steps of the measurement are not the work's.
const NEARLY = 0.9;

/**
 * Runs a synchronous function. Costs about half a millisecond (a watchdog thread), so it is for work that may be long.
 * @param limitMs after this much processor time it is interrupted, wherever it is; on the clock after nine times as much at the latest
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
      if (hadItsTime || tries === MAX_TRIES) throw new TimeLimitError(`not done within ${limitMs} ms`);
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
    // Releases the work, which may hold large values.
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

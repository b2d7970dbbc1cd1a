// A budget for a thread, where long work disturbs nobody: what is only bounded from above is measured instead, and interrupted when
// the budget ends. On the event loop the bound itself has to fit.
import { Budget, STEPS_PER_MS } from './budget.ts';
import { threadCpuMs } from '../process/thread-time.ts';
import { TimeLimitError, withinTime } from './time-limit.ts';

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

// A budget for a thread, where long work disturbs nobody: what is only bounded from above is measured instead, and interrupted when
// the budget ends. On the event loop the bound itself has to fit.
import { Budget, STEPS_PER_MS } from './budget.ts';
import { TimeLimitError, withinTime } from './time-limit.ts';

// Below it the measurement costs more than the work.
const MEASURED_STEPS = 5 * STEPS_PER_MS;

export class TimedBudget extends Budget {
  override attempt<Result>(steps: number, work: () => Result): Result {
    if (steps < MEASURED_STEPS) return super.attempt(steps, work);
    this.spend(1);
    const before = process.threadCpuUsage();
    try {
      return withinTime(Math.max(1, Math.ceil(this.leftMs)), work);
    } catch (error) {
      if (error instanceof TimeLimitError) this.spend(Number.POSITIVE_INFINITY);
      throw error;
    } finally {
      this.took(before);
    }
  }

  /** Takes off what the processor has done since; when that is more than was left, nothing is left for what follows. */
  took(before: NodeJS.CpuUsage): void {
    const { user, system } = process.threadCpuUsage(before);
    this.takeOff(((user + system) / 1000) * STEPS_PER_MS);
  }
}

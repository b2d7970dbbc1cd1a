// How much work one task may do, counted in steps before each piece of work is done: the same input ends at the same
// step on every machine, however busy it is. Clocks are the second line (`withinTime`, outbound/threads/).

/** The steps that take about a millisecond: a step is one value looked at, or a few dozen characters compared. */
export const STEPS_PER_MS = 50_000;

/** Steps for each byte of JSON that is parsed: measured. */
export const PARSE_STEPS = 1;

/** The work is larger than its budget; the message says what, as the end of a sentence. */
export class BudgetError extends Error {
  override readonly name = 'BudgetError';
}

const TOO_MUCH = 'filters and schemas take too much time or memory in total';

export class Budget {
  #left: number;

  constructor(ms: number) {
    this.#left = ms * STEPS_PER_MS;
  }

  /** Announces work of so many steps. @throws BudgetError when that is more than is left; so does all that follows */
  spend(steps: number): void {
    this.takeOff(steps);
    if (this.#left < 0) throw new BudgetError(TOO_MUCH);
  }

  protected takeOff(steps: number): void {
    this.#left -= steps;
  }

  /** Does work of which only an upper bound is known. @param steps the bound @throws BudgetError */
  attempt<Result>(steps: number, work: () => Result): Result {
    this.spend(steps);
    return work();
  }

  get leftMs(): number {
    return Math.max(0, this.#left / STEPS_PER_MS);
  }
}

/** For work that something else bounds. */
export const NO_LIMIT = new Budget(Number.POSITIVE_INFINITY);

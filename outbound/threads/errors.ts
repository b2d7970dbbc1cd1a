// Why no thread did the work. Nothing is known of it then.
import { type DescribedError, openError, ownWords } from '../../core/text/error-summary.ts';

export const WAIT_DEADLINE_MS = 20_000;
const LATE = openError(ownWords`No thread was available within ${WAIT_DEADLINE_MS / 1000} s`);
const OVER_BUDGET = openError(ownWords`The organization has reached its transformMsPerMinute limit`);

/** No thread did it, and nothing is known of the work. `silent`: the thread did not answer. */
export class NoThreadError extends Error {
  override readonly name: string = 'NoThreadError';
  // No property that a log would take with the error.
  readonly #detail: string;
  constructor({ summary, detail }: DescribedError) {
    super(summary);
    this.#detail = detail;
  }

  get detail(): string {
    return this.#detail;
  }
}

/** It was not the organization's turn: no thread was free in time, or its budget is used up. */
export class NoTurnError extends NoThreadError {
  override readonly name = 'NoTurnError';
  readonly reason: 'late' | 'budget';
  readonly waitMs: number;
  constructor(reason: 'late' | 'budget', waitMs: number) {
    super(reason === 'late' ? LATE : OVER_BUDGET);
    this.reason = reason;
    this.waitMs = waitMs;
  }
}

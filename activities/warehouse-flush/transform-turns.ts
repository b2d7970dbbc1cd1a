// Waits of a batch for its organization's turn to run transforms. Rows that are made already stay in memory meanwhile: an upload
// that began again would use the budget for the same rows again, and never end.
import { cancellationSignal } from '@temporalio/activity';
import { setTimeout as delay } from 'node:timers/promises';
import { NoTurnError } from '../../outbound/transforms/index.ts';

// Of one upload, whose activity has 180 s in all.
const LONGEST_MS = 90_000;

/** The transforms of the batch take longer than one upload may wait for. */
export class TooSlowError extends Error {}

export class TransformTurns {
  readonly #until = performance.now() + LONGEST_MS;
  readonly #ended = new AbortController();
  readonly #signal = AbortSignal.any([cancellationSignal(), this.#ended.signal]);
  readonly #mayHalve: boolean;

  /** @param mayHalve whether the batch can be smaller; else it waits as long as it takes */
  constructor(mayHalve: boolean) {
    this.#mayHalve = mayHalve;
  }

  /** Repeats work until it gets its turn. @throws TooSlowError; or an AbortError after the end of the activity */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      this.#signal.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof NoTurnError)) throw error;
        if (this.#mayHalve && performance.now() + error.waitMs > this.#until) throw new TooSlowError();
        await delay(error.waitMs, undefined, { signal: this.#signal });
      }
    }
  }

  /** Ends the waits that are left when one row has failed. */
  end(): void {
    this.#ended.abort();
  }
}

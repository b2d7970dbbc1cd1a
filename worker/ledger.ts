// Rolls the entries of the ledger up. Nothing depends on when: readers add what is not rolled up.
import type { Log } from '../core/process/log.ts';
import { causeOf } from '../core/process/log-cause.ts';
import { PollLoop } from '../core/process/poll-loop.ts';
import { throttled } from '../core/process/throttled-log.ts';
import type { Pool } from '../db/connections/pool.ts';
import { rollUp } from '../db/ledger/roll-up.ts';
import { sharedRest } from './due.ts';

const EVERY_MS = 10_000;

/** @param workers how many are alive */
export function keepLedger({ pool, workers, log }: { pool: Pool; workers: () => number; log: Log }): PollLoop {
  const rest = () => ({ ms: sharedRest(EVERY_MS, workers()) });
  return new PollLoop({
    round: async () => ((await rollUp(pool)) ? { ms: 0 } : rest()),
    onError(error) {
      throttled(log).warn({ cause: causeOf(error) }, 'the ledger was not rolled up; it is tried again');
      return rest();
    },
  });
}

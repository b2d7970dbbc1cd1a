// Rolls the entries of the ledger up. Nothing depends on when: readers add what is not rolled up.
import type { Log } from '../core/log.ts';
import { causeOf } from '../core/log-cause.ts';
import { throttled } from '../core/throttled-log.ts';
import type { Pool } from '../db/connections/pool.ts';
import { rollUp } from '../db/ledger/roll-up.ts';
import { sharedRest, type Watch, watch } from './watch.ts';

const EVERY_MS = 10_000;

/** @param workers how many are alive */
export function keepLedger({ pool, workers, log }: { pool: Pool; workers: () => number; log: Log }): Watch {
  return watch(() => rollUp(pool), {
    everyMs: () => sharedRest(EVERY_MS, workers()),
    onError: (error) =>
      throttled(log).warn({ cause: causeOf(error) }, 'the ledger was not rolled up; it is tried again'),
  });
}

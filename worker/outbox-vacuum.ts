// Keeps claims quick: dead rows of the outbox stay in its index until a vacuum, in front of the live ones, and every claim has to
// skip them. Autovacuum runs once a minute at most (autovacuum_naptime); by then claims took ten times as long.
import type { Log } from '../core/log.ts';
import { causeOf } from '../core/log-cause.ts';
import { throttled } from '../core/throttled-log.ts';
import { vacuumOutbox } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/connections/pool.ts';

// After a vacuum each connection plans its statements with the outbox again, which takes as long as hundreds of claims that step
// over a thousand dead rows.
const AFTER_ROWS = 1000;
const MIN_REST_MS = 1000;
// Vacuuming a long outbox takes long: limited to a fiftieth of one core.
const REST_PER_RUN = 50;

export interface OutboxVacuum {
  /** Reports claimed rows, which are about to leave the outbox. */
  claimed(rows: number): void;
  /** Resolves when no vacuum is running. */
  idle(): Promise<void>;
}

/** Vacuums the outbox after a number of claimed rows, with rests. An error is only logged; claims get slower then. */
export function createOutboxVacuum(pool: Pool, log: Log): OutboxVacuum {
  let sinceLast = 0;
  let restsUntil = 0;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    const startedAt = performance.now();
    try {
      await vacuumOutbox(pool);
    } catch (error) {
      throttled(log).warn({ cause: causeOf(error) }, 'the outbox was not vacuumed; claims may take longer until it is');
    }
    const endedAt = performance.now();
    restsUntil = endedAt + Math.max(MIN_REST_MS, (endedAt - startedAt) * REST_PER_RUN);
    running = undefined;
  }

  return {
    claimed(rows) {
      sinceLast += rows;
      if (sinceLast < AFTER_ROWS || running || performance.now() < restsUntil) return;
      sinceLast = 0;
      running = run();
    },
    async idle() {
      await running;
    },
  };
}

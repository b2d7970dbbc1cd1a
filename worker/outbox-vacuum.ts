// Keeps claims quick: what has left the outbox stays in its index until a vacuum, in front of what waits, and every claim steps
// over it. PostgreSQL's own vacuum comes once a minute at most (autovacuum_naptime); by then claims took ten times as long.
import type { Log } from '../core/log.ts';
import { vacuumOutbox } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/pool.ts';

const AFTER_ROWS = 200;
const MIN_REST_MS = 1000;
// A long outbox takes long: at most a fiftieth of one core goes into it.
const REST_PER_RUN = 50;

export interface OutboxVacuum {
  /** Tells that so many rows were claimed, which are about to leave the outbox. */
  claimed(rows: number): void;
  /** Resolves when none is under way. */
  idle(): Promise<void>;
}

/** Vacuums the outbox after every so many claimed rows, with rests. An error is logged; the claims then only take longer. */
export function createOutboxVacuum(pool: Pool, log: Log): OutboxVacuum {
  let sinceLast = 0;
  let restsUntil = 0;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    const startedAt = performance.now();
    try {
      await vacuumOutbox(pool);
    } catch (error) {
      log.warn({ error: String(error) }, 'the outbox was not vacuumed; claims may take longer until it is');
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

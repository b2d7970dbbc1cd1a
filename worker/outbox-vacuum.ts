// Keeps claims quick: dead rows of the outbox stay in its index until a vacuum, in front of the live ones, and every claim has to
// skip them. Autovacuum runs once a minute at most (autovacuum_naptime); by then claims took ten times as long.
import type { Log } from '../core/log.ts';
import { causeOf } from '../core/log-cause.ts';
import { throttled } from '../core/throttled-log.ts';
import type { Pool } from '../db/connections/pool.ts';
import { type OutboxUpkeep, outboxUpkeep, vacuumOutbox } from '../db/hot-path/outbox-vacuum.ts';

// After a vacuum each connection of every process plans its statements with the outbox again, which takes as long as hundreds of claims
// that step over a thousand dead rows. With 16 workers that was a quarter of what PostgreSQL did (`npm run bench -- fleet`).
const AFTER_ROWS = 3000;
const MIN_REST_MS = 5000;
// Vacuuming a long outbox takes long: limited to a fiftieth of one core.
const REST_PER_RUN = 50;
// A minute, the default of autovacuum_naptime, is too long (above).
const QUICK_AUTOVACUUM_S = 10;

export interface OutboxVacuum {
  /** Reports claimed rows, which are about to leave the outbox. */
  claimed(rows: number): void;
  /** Resolves when no vacuum is running. */
  idle(): Promise<void>;
}

/**
 * Vacuums the outbox after a number of claimed rows, with rests. An error is only logged; claims get slower then.
 * Where the role may not, this is told once, and left to autovacuum.
 */
export function createOutboxVacuum(pool: Pool, log: Log): OutboxVacuum {
  let sinceLast = 0;
  let restsUntil = 0;
  let isOurs = true;
  let running: Promise<void> | undefined = look();

  async function look(): Promise<void> {
    try {
      const upkeep = await outboxUpkeep(pool);
      isOurs = upkeep.mayVacuum;
      if (!isOurs) tell(upkeep, log);
    } catch (error) {
      log.debug({ cause: causeOf(error) }, 'it is not known whether the outbox may be vacuumed');
    }
    running = undefined;
  }

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
      if (!isOurs) return;
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

function tell({ hasRight, autovacuumSeconds }: OutboxUpkeep, log: Log): void {
  if (hasRight)
    log.warn(
      'the role of DATABASE_URL may not vacuum the outbox: run hookyard migrate --grant as the owner of the tables, and restart (docs/database-roles.md)',
    );
  else if (autovacuumSeconds === null || autovacuumSeconds > QUICK_AUTOVACUUM_S)
    log.warn(
      { autovacuumSeconds },
      'before PostgreSQL 17 only autovacuum keeps the outbox short: set autovacuum = on and autovacuum_naptime = 5s, so that claims stay quick (docs/database-roles.md)',
    );
  else log.info({ autovacuumSeconds }, 'autovacuum keeps the outbox short, as always before PostgreSQL 17');
}

// What the relay has started and has no result of yet.
import type { Client } from '@temporalio/client';
import { lookAfterQueued } from '../temporal-config/open-deliveries.ts';
import { ATTEMPT_TIMEOUT_MS } from '../core/attempt-times.ts';
import type { Log } from '../core/log.ts';
import { type OutboxRow, removeQueued, type Resume, stillQueued } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/pool.ts';
import type { InFlight } from './in-flight.ts';
import { signalTurnAgain } from './turns.ts';

export interface OverdueDeps {
  hotPool: Pool;
  pool: Pool;
  client: Client;
  inFlight: InFlight;
  /** Whether this process makes the first attempt of a delivery itself at the moment. */
  isRunning: (deliveryId: string) => boolean;
  log: Log;
}

/**
 * Looks after deliveries whose result is overdue. One that left the outbox is done (another worker recorded it), one
 * that Temporal does not know is started again, and one whose workflow was ended from outside (terminated in the
 * Temporal UI) would wait for ever, so it is ended visibly. One whose workflow has run for longer than an attempt can take
 * cannot be attempted for reasons of its own (its credentials cannot be opened, for example): its workflow tries on without
 * holding a place here, and the reconciliation looks after it should that be lost. One that was signalled its turn is signalled again.
 */
export async function lookAfterOverdue(deps: OverdueDeps): Promise<void> {
  const { inFlight, log } = deps;
  const overdue = inFlight.takeOverdue().filter(({ row }) => !deps.isRunning(row.deliveryId));
  if (overdue.length === 0) return;
  const rows = overdue.map(({ row }) => row);
  const queued = await stillQueued(deps.hotPool, rows);
  for (const { row, forMs } of overdue) {
    const resume = queued.get(row.deliveryId);
    const runs = resume !== undefined && (await lookAfter(deps, row, resume));
    if (runs && forMs <= ATTEMPT_TIMEOUT_MS) continue;
    if (runs && resume !== 'waiting') {
      await removeQueued(deps.pool, row);
      log.warn(
        { deliveryId: row.deliveryId, forMs },
        'its workflow has not recorded a first attempt, and is left to try on',
      );
    }
    inFlight.delete(row.deliveryId);
  }
}

/** @returns whether its workflow runs, and will continue with what it was started or signalled for */
async function lookAfter(deps: OverdueDeps, row: OutboxRow, resume: Resume | null): Promise<boolean> {
  if (resume !== 'waiting') return lookAfterQueued(deps, row);
  // One that waits for its turn only by now is claimed again, and signalled when that has come.
  return row.resume === 'waiting' && signalTurnAgain(deps, row);
}

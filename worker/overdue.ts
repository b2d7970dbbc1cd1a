// Deliveries that the relay has started and that have no result yet.
import type { Client } from '@temporalio/client';
import { lookAfterQueued } from '../temporal-config/open-deliveries.ts';
import { ATTEMPT_TIMEOUT_MS } from '../core/attempt-times.ts';
import type { Log } from '../core/log.ts';
import { type OutboxRow, removeQueued, type Resume, stillQueued } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/connections/pool.ts';
import type { InFlight } from './in-flight.ts';
import { signalTurnAgain } from './turns.ts';

export interface OverdueDeps {
  hotPool: Pool;
  pool: Pool;
  client: Client;
  inFlight: InFlight;
  /** Whether this process makes an attempt of a delivery at the moment. */
  isRunning: (deliveryId: string) => boolean;
  log: Log;
}

/**
 * Checks deliveries whose result is overdue. One that left the outbox is done (another worker recorded it). One that Temporal
 * does not know is started again. One whose workflow was terminated in the Temporal UI would wait for ever, so it is ended
 * visibly. One whose workflow has run for longer than an attempt can take has a problem of its own (its credentials cannot be
 * decrypted, for example): its workflow retries without holding a place here, and the reconciliation repairs it if the workflow
 * is lost. One that was signalled its turn is signalled again.
 */
export async function lookAfterOverdue(deps: OverdueDeps): Promise<void> {
  const { inFlight, log } = deps;
  const overdue = inFlight.takeOverdue().filter(({ row }) => !deps.isRunning(row.deliveryId));
  if (overdue.length === 0) return;
  const rows = overdue.map(({ row }) => row);
  const queued = await stillQueued(deps.hotPool, rows);
  for (const { row, forMs, isEarly } of overdue) {
    const resume = queued.get(row.deliveryId);
    // It may have begun here meanwhile, and left the outbox.
    if (deps.isRunning(row.deliveryId) || (isEarly && resume !== undefined)) continue;
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

/** @returns whether its workflow runs, and will handle its start or signal */
async function lookAfter(deps: OverdueDeps, row: OutboxRow, resume: Resume | null): Promise<boolean> {
  if (resume !== 'waiting') return lookAfterQueued(deps, row);
  // One that has begun to wait for its turn since then is claimed again, and signalled at its turn.
  return row.resume === 'waiting' && signalTurnAgain(deps, row);
}

// Deliveries that the relay has started and that have no result yet.
import type { Client } from '@temporalio/client';
import { lookAfterQueued } from '../temporal-config/open-deliveries.ts';
import { ATTEMPT_TIMEOUT_MS } from '../core/delivery/attempt-times.ts';
import type { Log } from '../core/process/log.ts';
import { causeOf } from '../core/process/log-cause.ts';
import { throttled } from '../core/process/throttled-log.ts';
import { type OutboxRow, removeQueued, type Resume, stillQueued } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/connections/pool.ts';
import type { InFlight } from './relay/in-flight.ts';
import { signalTurnAgain } from './turns.ts';

export interface OverdueDeps {
  hotPool: Pool;
  pool: Pool;
  client: Client;
  inFlight: InFlight;
  /** Whether this process makes an attempt of a delivery at the moment. */
  isRunning: (deliveryId: string) => boolean;
  /** Called with a delivery that needs its place no more. It may still be in the outbox. */
  freePlace: (deliveryId: string) => void;
  log: Log;
}

type Overdue = ReturnType<InFlight['takeOverdue']>[number];

/**
 * Checks deliveries whose result is overdue. One that left the outbox is done (another worker recorded it). One that Temporal
 * does not know is started again. One whose workflow was terminated in the Temporal UI would wait for ever, so it is ended
 * visibly. One whose workflow has run for longer than an attempt can take has a problem of its own (its credentials cannot be
 * decrypted, for example): its workflow retries without holding a place here, and the reconciliation repairs it if the workflow
 * is lost. One that was signalled its turn is signalled again.
 * Failure policy: while Temporal is away, what may have a workflow keeps its place, and the relay continues with others.
 */
export async function lookAfterOverdue(deps: OverdueDeps): Promise<void> {
  const { inFlight } = deps;
  const overdue = inFlight.takeOverdue().filter(({ row }) => !deps.isRunning(row.deliveryId));
  if (overdue.length === 0) return;
  const rows = overdue.map(({ row }) => row);
  const queued = await stillQueued(deps.hotPool, rows);
  let isAway = false;
  for (const each of overdue) {
    const { deliveryId } = each.row;
    const resume = queued.get(deliveryId);
    // It may have begun here meanwhile, and left the outbox.
    if (deps.isRunning(deliveryId) || (each.isEarly && resume !== undefined)) continue;
    if (resume === undefined) deps.freePlace(deliveryId);
    // Each would wait as long for an answer.
    else if (isAway) inFlight.checkSoon(deliveryId);
    else isAway = !(await check(deps, each, resume));
  }
}

/** Checks one that is still in the outbox. @returns false when Temporal or the database did not answer: it keeps its place */
async function check(deps: OverdueDeps, { row, forMs }: Overdue, resume: Resume | null): Promise<boolean> {
  const { deliveryId } = row;
  try {
    const runs = await lookAfter(deps, row, resume);
    if (runs && forMs <= ATTEMPT_TIMEOUT_MS) return true;
    if (runs && resume !== 'waiting') {
      await removeQueued(deps.pool, row);
      deps.log.warn(
        { deliveryId, forMs },
        'its workflow has not recorded a first attempt; the relay leaves the delivery to it',
      );
    }
    deps.freePlace(deliveryId);
    return true;
  } catch (error) {
    const facts = { deliveryId, cause: causeOf(error) };
    throttled(deps.log).warn(facts, 'its workflow could not be reached; it is tried again');
    return false;
  }
}

/** @returns whether its workflow runs, and will handle its start or signal */
async function lookAfter(deps: OverdueDeps, row: OutboxRow, resume: Resume | null): Promise<boolean> {
  if (resume !== 'waiting') return lookAfterQueued(deps, row);
  // One that has begun to wait for its turn since then is claimed again, and signalled at its turn.
  return row.resume === 'waiting' && signalTurnAgain(deps, row);
}

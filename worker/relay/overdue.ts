// Deliveries that the relay has started or signalled and that have no result yet, and those that continue from recorded
// attempts because their workflow was lost, or has ended and the database does not know it (restored from a backup).
import { ATTEMPT_TIMEOUT_MS, type ResumedDelivery } from '../../core/delivery/delivery.ts';
import { throttled } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { resumePoints } from '../../db/delivery/reconciliation.ts';
import { type OutboxRow, type Resume, removeQueued, stillQueued } from '../../db/hot-path/claim.ts';
import { lookAfterQueued, type RepairDeps, repairOverdue } from '../../temporal-config/open-deliveries.ts';
import { isRefusal, signalWorkflow } from '../../temporal-config/workflows.ts';
import type { InFlight } from './in-flight.ts';

export interface OverdueDeps extends RepairDeps {
  hotPool: Pool;
  inFlight: InFlight;
  isRunning: (deliveryId: string) => boolean;
  /** Called with a delivery that needs its slot no more. It may still be in the outbox. */
  freeSlot: (deliveryId: string) => void;
}

type Overdue = ReturnType<InFlight['takeOverdue']>[number];

/**
 * Checks deliveries whose result is overdue. One that left the outbox is done (another worker recorded it). One that
 * Temporal does not know is started again. One whose workflow was terminated in the Temporal UI would wait for ever, so
 * it is ended visibly. One whose workflow has run for longer than an attempt can take has a problem of its own (its
 * credentials cannot be decrypted, for example): its workflow retries without holding a slot here, and the
 * reconciliation repairs it if the workflow is lost. One that was signalled its turn is signalled again. Failure
 * policy: while Temporal is away, what may have a workflow keeps its slot, and the relay continues with others.
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
    if (resume === undefined) deps.freeSlot(deliveryId);
    // Each would wait as long for an answer.
    else if (isAway) inFlight.checkSoon(deliveryId);
    else isAway = !(await check(deps, each, resume));
  }
}

/**
 * Checks one that is still in the outbox.
 * @returns false when Temporal or the database did not answer: it keeps its slot
 */
async function check(deps: OverdueDeps, { row, forMs }: Overdue, resume: Resume | null): Promise<boolean> {
  const { deliveryId } = row;
  try {
    const runs = await lookAfter(deps, row, resume);
    if (runs && forMs <= ATTEMPT_TIMEOUT_MS) return true;
    if (runs && resume !== 'waiting') {
      await removeQueued(deps.pool, row);
      deps.log.warn(
        { deliveryId, forMs },
        'the workflow has not recorded a first attempt; handing the delivery over to the workflow',
      );
    }
    deps.freeSlot(deliveryId);
    return true;
  } catch (error) {
    const facts = { deliveryId, cause: causeOf(error) };
    throttled(deps.log).warn(facts, 'failed to reach the workflow; trying again');
    return false;
  }
}

/** @returns whether its workflow runs, and will handle its start or signal */
async function lookAfter(deps: OverdueDeps, row: OutboxRow, resume: Resume | null): Promise<boolean> {
  if (resume !== 'waiting') return lookAfterQueued(deps, row);
  // One that has begun to wait for its turn since then is claimed again, and signalled at its turn.
  return row.resume === 'waiting' && signalTurnAgain(deps, row);
}

/**
 * Signals a workflow that waits, in the outbox, for its turn: for its destination's rate limit or a slot there
 * (activities/attempt/rate-and-concurrency.ts), among the retries of its organization
 * (activities/attempt/retry-slots.ts), or until that is resumed. A delivery without a workflow is repaired and claimed
 * again.
 * @returns whether to check the delivery again if no result comes
 * @throws when Temporal or the database is unreachable
 */
export function signalTurn(deps: RepairDeps, row: OutboxRow): Promise<boolean> {
  return unlessRefused(deps, row, async () => {
    if (await signalWorkflow(deps.client, row.deliveryId, 'release')) return true;
    await repair(deps, row);
    return false;
  });
}

/**
 * Signals again when no result has come: the workflow may be late, or wait for something else after the database was
 * restored from a backup. @returns and @throws as the first signal
 */
function signalTurnAgain(deps: RepairDeps, row: OutboxRow): Promise<boolean> {
  return unlessRefused(deps, row, async () => {
    const repaired = await repair(deps, row);
    return repaired === 'workflows signalled' || repaired === 'at work';
  });
}

async function repair(deps: RepairDeps, row: OutboxRow): ReturnType<typeof repairOverdue> {
  const repaired = await repairOverdue(deps, row);
  if (repaired === null) await removeQueued(deps.pool, row);
  return repaired;
}

/** A delivery whose signal Temporal refuses keeps its slot for a while; others are still signalled. */
async function unlessRefused(
  { log }: RepairDeps,
  { deliveryId }: OutboxRow,
  signal: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await signal();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    log.warn({ deliveryId, cause: causeOf(error) }, 'failed to signal the workflow to continue');
    return true;
  }
}

/**
 * Finds the rows with recorded attempts, and how far they had come; undefined: the delivery is no longer open. Rows
 * without an attempt are missing: they start like new ones.
 */
async function findResumed(pool: Pool, rows: OutboxRow[]): Promise<Map<OutboxRow, ResumedDelivery | undefined>> {
  const candidates = rows.filter((row) => row.resume === 'lost' || row.resume === 'ended');
  const points = await resumePoints(
    pool,
    candidates.map((row) => row.deliveryId),
  );
  return new Map(
    candidates.flatMap((row) => {
      const point = points.get(row.deliveryId);
      return point?.attempts === 0 ? [] : [[row, point] as const];
    }),
  );
}

/**
 * Starts the workflow of such a delivery. Its row is removed when Temporal has the workflow, or the delivery is no
 * longer open.
 * @param start starts the workflow; false when it was started before
 */
async function resumeDelivery(
  deps: RepairDeps,
  row: OutboxRow,
  point: ResumedDelivery | undefined,
  start: (resumed: ResumedDelivery) => Promise<boolean>,
): Promise<void> {
  const started = point === undefined || (await start(point));
  if (started || (await lookAfterQueued(deps, row))) await removeQueued(deps.pool, row);
}

/** What the relay is handed: it knows when something is to be repaired, not how. */
export const repairs = { findResumed, lookAfterOverdue, lookAfterQueued, resumeDelivery, signalTurn };
export type Repairs = typeof repairs;

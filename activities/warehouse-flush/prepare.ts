// What is next for a warehouse destination: nothing, waiting, or a batch.
import { type DescribedError, openError, ownWords } from '../../core/error-summary.ts';
import { idTime, newId } from '../../core/ids.ts';
import {
  type BatchPlan,
  type BatchRule,
  fullLook,
  planBatch,
  quickLook,
  type WaitingDelivery,
} from '../../core/warehouse/batching.ts';
import type { WarehouseConfig } from '../../core/warehouse/config.ts';
import { objectKey, partitionOf } from '../../core/warehouse/object-key.ts';
import { divertBlocked } from '../../db/circuits/held-deliveries.ts';
import { pausesOf } from '../../db/circuits/pauses.ts';
import { databaseTime } from '../../db/clock.ts';
import { endDeliveries } from '../../db/delivery/delivery-commands.ts';
import {
  type BatchUnderWay,
  findBatchUnderWay,
  findWarehouse,
  type OpenBatch,
  openBatches,
  removeWaiting,
  waitingDeliveries,
  type WaitingRow,
} from '../../db/warehouse/batches.ts';
import { freezeBatch } from '../../db/warehouse/freeze.ts';
import { endFlush, noteFilling, noteSeen, takeSnapshot, type WarehouseKey } from '../../db/warehouse/flushes.ts';
import { loadSuspension } from '../../db/organizations/suspension.ts';
import type { WarehouseTarget } from '../../outbound/warehouses/index.ts';
import type { WarehouseAdvice } from '../types.ts';
import { type FlushDeps, openDestination, type UsableDestination } from './deps.ts';

type LookDeps = Pick<FlushDeps, 'pool' | 'secretBox' | 'log'>;

const END_STEP = 1000;
const HOLD_STEP = 1000;
// While the organization is suspended; resuming it wakes the workflow.
const SUSPENDED_MS = 600_000;

/**
 * Checks what waits, and freezes a batch when one is due.
 * @param ahead what a look has found already
 */
export async function prepareBatch(
  deps: LookDeps,
  { finishing, ...key }: WarehouseKey & { finishing: string | null },
  ahead: Found | null = null,
): Promise<WarehouseAdvice> {
  const destination = await findWarehouse(deps.pool, key);
  // Before the record is used: a later change wakes the workflow again.
  await noteSeen(deps.pool, key, destination?.version ?? null);
  const { suspended, resumedAt } = await loadSuspension(deps.pool, key.organizationId);
  if (suspended) return { state: 'suspended', waitMs: SUSPENDED_MS };
  const underWay = await findBatchUnderWay(deps.pool, key, finishing ?? undefined);
  if (underWay) return adviceOn(underWay, resumedAt);
  const opened = openDestination(deps, destination);
  if (!opened.ok) {
    await endWaiting(deps, key, opened);
    return idle(deps, key);
  }
  const isRight = ahead?.version === opened.target.version && !(await isPaused(deps, key, ahead.plan));
  const found = isRight ? ahead : await look(deps, key, opened.target);
  if (found === null) return idle(deps, key);
  const { plan, snapshot } = found;
  if (plan.kind === 'due') return adviceOn(await freeze(deps, key, opened, { ...plan, id: found.id }), resumedAt);
  await noteFilling(deps.pool, key, { ...plan, snapshot });
  const waiting = plan.batches.reduce((sum, { events }) => sum + events, 0);
  return { state: 'filling', waiting, waitMs: Math.max(0, plan.waitMs) };
}

/**
 * Looks for the next file while the one before is uploaded. A delivery that ends until the file is frozen is left out of it; one that
 * would have come first is like one a moment later; a pause, or a change of the destination, has it looked for again.
 * @returns null: none is due, or it has to be looked for again
 */
export async function lookAhead(deps: LookDeps, key: WarehouseKey): Promise<Found | null> {
  const opened = openDestination(deps, await findWarehouse(deps.pool, key));
  const found = opened.ok ? await look(deps, key, opened.target) : null;
  return found?.plan.kind === 'due' ? found : null;
}

/** What waits, of one version of the destination. */
export interface Found {
  version: WarehouseTarget['version'];
  plan: BatchPlan<Waiting>;
  /** Of the batch that is due. */
  id: string;
  /** From before the look. */
  snapshot: string;
}

/** @returns null: nothing waits */
async function look(
  deps: LookDeps,
  key: WarehouseKey,
  { version, config }: Pick<WarehouseTarget, 'version' | 'config'>,
): Promise<Found | null> {
  const { batchSize, batchBytes, batchWindowSeconds } = config;
  const rule: BatchRule = { batchSize, batchBytes, batchWindowMs: batchWindowSeconds * 1000 };
  const open = await openBatches(deps.pool, key);
  const nowMs = await databaseTime(deps.pool);
  const snapshot = await takeSnapshot(deps.pool);
  for (const limit of [quickLook(rule), fullLook(rule)]) {
    const rows = await waitingDeliveries(deps.pool, key.destinationId, limit);
    const waiting = await withoutEnded(deps, key, rows, { ...config, open, nowMs });
    if (rows.length === 0) return null;
    // The ended ones are removed now, and paused ones held; there may be others behind them.
    if (waiting.length < rows.length || (await holdPaused(deps, key, rows)))
      return look(deps, key, { version, config });
    const plan = planBatch(waiting, rule, { nowMs, isAll: rows.length < limit });
    if (plan === null) continue;
    const id = (plan.kind === 'due' ? open.get(plan.partition)?.id : undefined) ?? newId('bat');
    return { version, plan, id, snapshot };
  }
  throw new Error('A full look decides');
}

/** Whether the destination, or a route of what is due, was paused since a look (PAUSE-15). */
async function isPaused({ pool }: LookDeps, key: WarehouseKey, plan: BatchPlan<Waiting>): Promise<boolean> {
  const routeIds = plan.kind === 'due' ? plan.members.flatMap(({ routeId }) => routeId ?? []) : [];
  const ids = [key.destinationId, ...new Set(routeIds)];
  return (await pausesOf(pool, key.organizationId, ids)).size > 0;
}

/**
 * Holds deliveries whose route or destination is paused (PAUSE-15).
 * @returns whether there were any; one that has ended, or that was resumed meanwhile, is none
 */
async function holdPaused({ pool }: LookDeps, { destinationId }: WarehouseKey, rows: WaitingRow[]): Promise<boolean> {
  const paused = rows.filter(({ isPaused }) => isPaused).slice(0, HOLD_STEP);
  if (paused.length === 0) return false;
  const blocked = paused.map(({ deliveryId, routeId }) => ({
    ...{ deliveryId, routeId, destinationId },
    inCircuit: false,
    hasWorkflow: false,
  }));
  return (await divertBlocked(pool, blocked)).size > 0;
}

interface Waiting extends WaitingDelivery {
  routeId: string | null;
  priority: number;
  source: string;
}

/** One check, with the time of the database clock, and the batches that were filling before it. */
interface Look extends Pick<WarehouseConfig, 'partitionBy'> {
  open: Map<string, OpenBatch>;
  nowMs: number;
}

/** Ends deliveries whose event or source is gone. */
async function withoutEnded(
  deps: LookDeps,
  key: WarehouseKey,
  rows: WaitingRow[],
  { partitionBy, open, nowMs }: Look,
): Promise<Waiting[]> {
  const gone: string[] = [];
  const waiting = rows.flatMap((row): Waiting[] => {
    const { deliveryId, routeId, priority, payloadSize, receivedAt, queuedAt, sourceSlug } = row;
    if (payloadSize === null || receivedAt === null || queuedAt === null || sourceSlug === null) {
      gone.push(deliveryId);
      return [];
    }
    const partition = partitionOf({ receivedAt, source: sourceSlug }, partitionBy);
    const openedAt = open.get(partition)?.openedAt.getTime() ?? nowMs;
    return [
      {
        ...{ deliveryId, routeId, priority, partition },
        source: sourceSlug,
        bytes: payloadSize,
        receivedAt: receivedAt.getTime(),
        since: Math.min(waitsSince(row, queuedAt), openedAt),
      },
    ];
  });
  const deleted = openError(ownWords`The source of the event was deleted`);
  if (gone.length > 0) await endThese(deps, key, gone, { ending: 'cancelled', reason: deleted });
  return waiting;
}

/**
 * When a delivery was created, by the clock of the database. Its id has the time of the process that created it; the event, for
 * which both times are known, gives the difference between the clocks. If the clock of the process was set in between (a replay),
 * the result is wrong by as much. A batch is therefore due by the time it was opened, so that nothing waits longer than a window.
 */
function waitsSince({ deliveryId, eventId }: WaitingRow, queuedAt: Date): number {
  return queuedAt.getTime() + idTime(deliveryId) - idTime(eventId);
}

async function freeze(
  deps: LookDeps,
  key: WarehouseKey,
  { target, fieldMapping }: UsableDestination,
  { id, partition, members }: Extract<BatchPlan<Waiting>, { kind: 'due' }> & { id: string },
): Promise<BatchUnderWay> {
  const { fileFormat, compression, payloadColumn, partitionBy, keyOrder, prefix } = target.config;
  const events = members.map(({ receivedAt, source }) => ({ receivedAt: new Date(receivedAt), source }));
  const batch = await freezeBatch(deps.pool, {
    ...key,
    id,
    partition,
    keyOrder,
    keyAt: (frozenAt) => objectKey({ id, events, prefix, partitionBy, keyOrder, frozenAt, fileFormat, compression }),
    fileFormat,
    compression,
    payloadColumn,
    // No rules: rows are whole events.
    fieldMapping: fieldMapping?.length === 0 ? null : fieldMapping,
    waitingSince: new Date(Math.min(...members.map(({ since }) => since))),
    bytes: members.reduce((sum, { bytes }) => sum + bytes, 0),
    members,
  });
  const { events: count, bytes } = batch;
  deps.log.info({ ...key, batchId: id, events: count, bytes }, 'warehouse batch frozen');
  return batch;
}

/** @param resumedAt the time before counts for nothing: it cannot have been written then */
function adviceOn(batch: BatchUnderWay, resumedAt: Date | null): WarehouseAdvice {
  const { id: batchId, status, events, bytes, attempts, waitingSince, errorSummary } = batch;
  if (status === 'uploaded') return { state: 'uploaded', batchId, events };
  return {
    state: 'frozen',
    batchId,
    events,
    bytes,
    attempts,
    waitingSince: Math.max(waitingSince.getTime(), resumedAt?.getTime() ?? 0),
    error: errorSummary,
  };
}

async function idle(deps: LookDeps, key: WarehouseKey): Promise<WarehouseAdvice> {
  await endFlush(deps.pool, key);
  return { state: 'idle' };
}

type Ending = { ending: 'cancelled' | 'failed' | 'skipped'; reason: DescribedError };

/** Ends everything that waits for a destination that cannot be written to. */
async function endWaiting(deps: LookDeps, key: WarehouseKey, ending: Ending): Promise<void> {
  for (;;) {
    const rows = await waitingDeliveries(deps.pool, key.destinationId, END_STEP);
    if (rows.length === 0) return;
    const deliveryIds = rows.map(({ deliveryId }) => deliveryId);
    await endThese(deps, key, deliveryIds, ending);
  }
}

async function endThese(
  { pool, log }: LookDeps,
  { organizationId, destinationId }: WarehouseKey,
  deliveryIds: string[],
  { ending, reason }: Ending,
): Promise<void> {
  await endDeliveries(pool, ending, { organizationId, deliveryIds, reason });
  // Rows without an open delivery: the retention dropped it while it waited.
  await removeWaiting(pool, destinationId, deliveryIds);
  log.info(
    { destinationId, deliveries: deliveryIds.length, status: ending, reason: reason.summary },
    'deliveries ended without a file',
  );
}

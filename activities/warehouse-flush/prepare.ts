// What is next for a warehouse destination: nothing, waiting, or a batch.
import type { FairQueue } from '../../core/fairness/fair-queue.ts';
import type { IssueSink } from '../../core/messages/issues.ts';
import type { Log } from '../../core/process/log.ts';
import type { Pool } from '../../db/connections/pool.ts';
import type { SecretBox } from '../../db/encryption/secret-box.ts';
import { decryptedWarehouseConfig } from '../../db/warehouse/config.ts';
import type { Threads } from '../../outbound/threads/index.ts';
import type { Warehouses, WarehouseTarget } from '../../outbound/warehouses/index.ts';
import type { ConfigCache } from '../config-cache.ts';
import { openError } from '../../core/text/error-summary.ts';
import { newId } from '../../core/text/ids.ts';
import {
  type BatchPlan,
  type BatchRule,
  fullLook,
  planBatch,
  quickLook,
  type WaitingDelivery,
} from '../../core/warehouse/batching.ts';
import { WAREHOUSE_TYPES, type WarehouseConfig } from '../../core/warehouse/config.ts';
import { objectKey, partitionOf } from '../../core/warehouse/files-and-keys.ts';
import { divertBlocked } from '../../db/circuits/held-deliveries.ts';
import { databaseTime } from '../../db/sql/rules.ts';
import { endDeliveries } from '../../db/delivery/delivery-commands.ts';
import {
  type BatchUnderWay,
  findBatchUnderWay,
  findWarehouse,
  type OpenBatch,
  openBatches,
  removeWaiting,
  type StoredDestination,
  waitingDeliveries,
  type WaitingRow,
} from '../../db/warehouse/batches.ts';
import { freezeBatch } from '../../db/warehouse/freeze.ts';
import { endFlush, noteFilling, noteSeen, takeSnapshot, type WarehouseKey } from '../../db/warehouse/flushes.ts';
import { loadSuspension, type Suspension } from '../../db/organizations/organizations.ts';
import { DESTINATION_DELETED, DESTINATION_DISABLED, type Ending, SOURCE_DELETED } from '../attempt/outcomes.ts';
import type { WarehouseAdvice } from '../types.ts';

export interface FlushDeps {
  hotPool: Pool;
  /** Runs everything else; a separate pool, so that commands do not queue behind it. */
  pool: Pool;
  secretBox: SecretBox;
  configs: Pick<ConfigCache, 'route' | 'transform'>;
  threads: Pick<Threads, 'rows' | 'rowGroup' | 'runTransform'>;
  warehouses: Pick<Warehouses, 'put' | 'begin'>;
  slots: FairQueue;
  issues: IssueSink;
  log: Log;
}

/** Why nothing can be written to a destination, and how its deliveries end, as those to an HTTP destination do. */
export type Unusable = { ok: false } & Ending;

export type UsableDestination = { ok: true; target: WarehouseTarget } & Pick<StoredDestination, 'fieldMapping'>;

/** @throws DecryptionError when the encryption key is missing or wrong */
export function openDestination(
  { secretBox }: Pick<FlushDeps, 'secretBox'>,
  stored: StoredDestination | undefined,
): UsableDestination | Unusable {
  if (!stored) return { ok: false, ...DESTINATION_DELETED };
  if (!stored.enabled) return { ok: false, ...DESTINATION_DISABLED };
  const type = WAREHOUSE_TYPES.find((known) => known === stored.type);
  if (type === undefined) throw new Error(`${stored.id} is of type ${stored.type}, which is not a warehouse`);
  const opened = decryptedWarehouseConfig(secretBox, { id: stored.id, type, config: stored.config });
  if (!opened.ok) return { ok: false, ending: 'failed', reason: openError(opened.message) };
  const target = {
    id: stored.id,
    version: stored.version,
    organizationId: stored.organizationId,
    organization: stored.organization,
    type: opened.type,
    config: opened.config,
  } as WarehouseTarget;
  return { ok: true, target, fieldMapping: stored.fieldMapping };
}

const END_STEP = 1000;
const HOLD_STEP = 1000;
// While the organization is suspended; resuming it wakes the workflow.
const SUSPENDED_MS = 600_000;

export async function prepareBatch(
  deps: FlushDeps,
  { finishing, ...key }: WarehouseKey & { finishing: string | null },
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
  // No rules: rows are whole events.
  const fieldMapping = opened.fieldMapping?.length === 0 ? null : opened.fieldMapping;
  return nextBatch(deps, key, { config: opened.target.config, fieldMapping, resumedAt });
}

type Form = { config: WarehouseConfig } & Pick<StoredDestination, 'fieldMapping'> & Pick<Suspension, 'resumedAt'>;

async function nextBatch(deps: FlushDeps, key: WarehouseKey, form: Form): Promise<WarehouseAdvice> {
  const { batchSize, batchBytes, batchWindowSeconds } = form.config;
  const rule: BatchRule = { batchSize, batchBytes, batchWindowMs: batchWindowSeconds * 1000 };
  const open = await openBatches(deps.pool, key);
  const nowMs = await databaseTime(deps.pool);
  const snapshot = await takeSnapshot(deps.pool);
  let plan: BatchPlan<Waiting> | null = null;
  for (const limit of [quickLook(rule), fullLook(rule)]) {
    const rows = await waitingDeliveries(deps.pool, key, limit);
    const waiting = await withoutEnded(deps, key, rows, { ...form.config, open, nowMs });
    if (rows.length === 0) return idle(deps, key);
    // The ended ones are removed now, and paused ones held; there may be others behind them.
    if (waiting.length < rows.length || (await holdPaused(deps, key, rows))) return nextBatch(deps, key, form);
    plan = planBatch(waiting, rule, { nowMs, isAll: rows.length < limit });
    if (plan !== null) break;
  }
  if (plan === null) throw new Error('A full check must produce a plan');
  if (plan.kind === 'due') {
    const id = open.get(plan.partition)?.id ?? newId('bat');
    return adviceOn(await freeze(deps, key, form, { ...plan, id }), form.resumedAt);
  }
  await noteFilling(deps.pool, key, { ...plan, snapshot });
  const waiting = plan.batches.reduce((sum, { events }) => sum + events, 0);
  return { state: 'filling', waiting, waitMs: Math.max(0, plan.waitMs) };
}

/**
 * Holds deliveries whose route or destination is paused.
 * @returns whether there were any; one that has ended, or that was resumed meanwhile, is none
 */
async function holdPaused({ pool }: FlushDeps, { destinationId }: WarehouseKey, rows: WaitingRow[]): Promise<boolean> {
  const paused = rows.filter(({ isPaused }) => isPaused).slice(0, HOLD_STEP);
  if (paused.length === 0) return false;
  const blocked = paused.map((row) => ({ ...row, destinationId, inCircuit: false, hasWorkflow: false }));
  return (await divertBlocked(pool, blocked)).size > 0;
}

interface Waiting extends WaitingDelivery {
  priority: number;
  source: string;
}

/** One check, with the time of the database clock, and the batches that were filling before it. */
interface Look extends Pick<WarehouseConfig, 'partitionBy'> {
  open: Map<string, OpenBatch>;
  nowMs: number;
}

async function withoutEnded(
  deps: FlushDeps,
  key: WarehouseKey,
  rows: WaitingRow[],
  { partitionBy, open, nowMs }: Look,
): Promise<Waiting[]> {
  const gone: string[] = [];
  const waiting = rows.flatMap((row): Waiting[] => {
    const { deliveryId, priority, payloadSize, receivedAt, waitsSince, sourceSlug } = row;
    if (payloadSize === null || receivedAt === null || sourceSlug === null) {
      gone.push(deliveryId);
      return [];
    }
    const partition = partitionOf({ receivedAt, source: sourceSlug }, partitionBy);
    const openedAt = open.get(partition)?.openedAt.getTime() ?? nowMs;
    return [
      {
        deliveryId,
        priority,
        partition,
        source: sourceSlug,
        bytes: payloadSize,
        receivedAt: receivedAt.getTime(),
        since: Math.min(waitsSince.getTime(), openedAt),
      },
    ];
  });
  if (gone.length > 0) await endThese(deps, key, gone, SOURCE_DELETED);
  return waiting;
}

async function freeze(
  deps: FlushDeps,
  key: WarehouseKey,
  { config, fieldMapping }: Form,
  { id, partition, members }: Extract<BatchPlan<Waiting>, { kind: 'due' }> & { id: string },
): Promise<BatchUnderWay> {
  const { fileFormat, compression, payloadColumn, partitionBy, keyOrder, prefix } = config;
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
    fieldMapping,
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

async function idle(deps: FlushDeps, key: WarehouseKey): Promise<WarehouseAdvice> {
  await endFlush(deps.pool, key);
  return { state: 'idle' };
}

async function endWaiting(deps: FlushDeps, key: WarehouseKey, ending: Ending): Promise<void> {
  for (;;) {
    const rows = await waitingDeliveries(deps.pool, key, END_STEP);
    if (rows.length === 0) return;
    const deliveryIds = rows.map(({ deliveryId }) => deliveryId);
    await endThese(deps, key, deliveryIds, ending);
  }
}

async function endThese(
  { pool, log }: FlushDeps,
  key: WarehouseKey,
  deliveryIds: string[],
  { ending, reason }: Ending,
): Promise<void> {
  const { organizationId, destinationId } = key;
  await endDeliveries(pool, ending, { organizationId, deliveryIds, reason });
  // Rows without an open delivery: the retention dropped it while it waited.
  await removeWaiting(pool, key, deliveryIds);
  log.info(
    { destinationId, deliveries: deliveryIds.length, status: ending, reason: reason.summary },
    'deliveries ended without a file',
  );
}

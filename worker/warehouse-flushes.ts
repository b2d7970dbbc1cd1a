// Files of warehouses in the worker: starts and wakes the workflow of each destination with deliveries to write, and runs its
// activities, in a separate Temporal worker with few slots, so that a slow store never takes resources that deliveries need.
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { createWarehouseActivities, type FlushDeps } from '../activities/warehouse-flush/index.ts';
import type { Reach } from '../outbound/http/guarded-connect.ts';
import { createWarehouses } from '../outbound/warehouses/index.ts';
import type { Settings } from '../core/config.ts';
import type { Tuning } from '../core/tuning.ts';
import { Places } from '../core/places.ts';
import type { OperatorAccess } from '../core/warehouse/operator-access.ts';
import { warehouseWorkflowId } from '../core/workflow-names.ts';
import { summaryLine } from '../core/operator-markdown.ts';
import { settleAll } from '../core/settle-all.ts';
import type { Pool } from '../db/connections/pool.ts';
import { claimFlushes, countGains, type DueFlush } from '../db/warehouse/flushes.ts';
import { inTurnOf } from '../temporal-config/fairness.ts';
import { warehouseChanged } from '../workflows/messages.ts';
import { TASK_QUEUE, warehouseTaskQueue } from '../core/workflow-names.ts';
import { destinationIdAttribute, organizationIdAttribute } from '../core/search-attributes.ts';
import type { warehouseFlush } from '../workflows/warehouse-flush.ts';
import { type RunningWorker, startSideWorker, type SideWorkerDeps } from './temporal-worker.ts';

const MAX_PER_LOOK = 50;
// Batches in memory at the same time; a destination has one at a time.
const SLOTS = 8;

export interface WarehouseFlushDeps extends SideWorkerDeps, Omit<FlushDeps, 'warehouses' | 'places'> {
  client: Client;
  /** Whether there is only one organization. */
  alone: () => boolean;
  /** For the polls. */
  commandPool: Pool;
  /** Where uploads may go. */
  reach: Reach;
  access: OperatorAccess;
  settings: Pick<Settings, 'HOOKYARD_SHUTDOWN_SECONDS'>;
  tuning: Pick<Tuning, 'warehouseRetrySeconds'>;
}

export function startWarehouseFlushes(deps: WarehouseFlushDeps): Promise<RunningWorker> {
  const warehouses = createWarehouses({ ...deps.reach, access: deps.access });
  return startSideWorker(deps, {
    taskQueue: warehouseTaskQueue(deps.taskQueue),
    activities: createWarehouseActivities({ ...deps, warehouses, places: new Places(SLOTS, deps.alone) }),
    slots: SLOTS,
    // A workflow gets at most one signal a second.
    startDue: () => lookAfterDue(deps),
    what: 'warehouses',
    close: () => warehouses.close(),
  });
}

/** @returns whether more is due now */
async function lookAfterDue({ commandPool, client, tuning }: WarehouseFlushDeps): Promise<boolean> {
  const claimed = await claimFlushes(commandPool, MAX_PER_LOOK);
  const due = [...claimed, ...(await countGains(commandPool))];
  await settleAll(due.map((each) => wake(client, tuning, each)));
  return claimed.length >= MAX_PER_LOOK;
}

/** Starts the workflow of a destination unless it runs, and signals it when something has changed. */
async function wake(client: Client, tuning: WarehouseFlushDeps['tuning'], due: DueFlush): Promise<void> {
  const { organizationId, destinationId, destinationName, hasNews } = due;
  const retryMs = tuning.warehouseRetrySeconds * 1000;
  const options = {
    workflowId: warehouseWorkflowId(destinationId),
    taskQueue: TASK_QUEUE,
    ...inTurnOf(organizationId),
    args: [{ organizationId, destinationId, retryMs }] as Parameters<typeof warehouseFlush>,
    staticSummary: summaryLine(`Files of ${destinationName ?? 'a deleted destination'}`),
    typedSearchAttributes: new TypedSearchAttributes([
      { key: organizationIdAttribute, value: organizationId },
      { key: destinationIdAttribute, value: destinationId },
    ]),
  };
  if (hasNews) {
    await client.workflow.signalWithStart<typeof warehouseFlush>('warehouseFlush', {
      ...options,
      signal: warehouseChanged,
    });
    return;
  }
  try {
    await client.workflow.start<typeof warehouseFlush>('warehouseFlush', options);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

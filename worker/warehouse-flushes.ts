// Files of warehouses in the worker: starts and wakes the workflow of each destination that has something to write, and runs
// its activities, in a Temporal worker with few slots of its own, so that a slow store never holds what deliveries need.
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { type DataConverter, TypedSearchAttributes } from '@temporalio/common';
import { type NativeConnection, Worker } from '@temporalio/worker';
import { createWarehouseActivities, type FlushDeps } from '../activities/warehouse-flush/index.ts';
import { createWarehouses } from '../outbound/warehouses/index.ts';
import type { Settings } from '../core/config.ts';
import { warehouseWorkflowId } from '../core/workflow-names.ts';
import { summaryLine } from '../core/operator-markdown.ts';
import type { Pool } from '../db/pool.ts';
import { claimFlushes, countGains, type DueFlush } from '../db/warehouse-flushes.ts';
import { warehouseChanged } from '../workflows/messages.ts';
import { TASK_QUEUE, warehouseTaskQueue } from '../core/workflow-names.ts';
import { destinationIdAttribute, organizationIdAttribute } from '../core/search-attributes.ts';
import type { warehouseFlush } from '../workflows/warehouse-flush.ts';
import { watch } from './watch.ts';

// How often new work is looked for: a workflow gets no more than a signal a second.
const LOOK_EVERY_MS = 1000;
const MAX_PER_LOOK = 50;
// Batches in memory at the same time; a destination has one at a time.
const SLOTS = 8;

export interface WarehouseFlushDeps extends Omit<FlushDeps, 'warehouses'> {
  connection: NativeConnection;
  namespace: string;
  dataConverter: DataConverter;
  client: Client;
  /** For the looks for work. */
  commandPool: Pool;
  settings: Pick<
    Settings,
    'HOOKYARD_SHUTDOWN_SECONDS' | 'HOOKYARD_DELIVERY_ALLOW' | 'HOOKYARD_WAREHOUSE_RETRY_SECONDS'
  >;
}

export interface WarehouseFlushes {
  /** Rejects when Temporal's worker ends by an error. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

export async function startWarehouseFlushes(deps: WarehouseFlushDeps): Promise<WarehouseFlushes> {
  const { connection, namespace, dataConverter, settings, log } = deps;
  const warehouses = createWarehouses({ allow: settings.HOOKYARD_DELIVERY_ALLOW, env: process.env });
  const worker = await Worker.create({
    connection,
    namespace,
    dataConverter,
    taskQueue: warehouseTaskQueue(TASK_QUEUE),
    activities: createWarehouseActivities({ ...deps, warehouses }),
    maxConcurrentActivityTaskExecutions: SLOTS,
    shutdownGraceTime: settings.HOOKYARD_SHUTDOWN_SECONDS * 1000,
    shutdownForceTime: settings.HOOKYARD_SHUTDOWN_SECONDS * 1000 + 2000,
  });
  const ended = worker.run();
  // Failure policy: while the database or Temporal is away, files wait; a claim that led to nothing lapses.
  const due = watch(() => lookAfterDue(deps), {
    everyMs: LOOK_EVERY_MS,
    onError: (error) => log.warn({ error: String(error) }, 'warehouses wait: the database or Temporal is away'),
  });
  return {
    ended,
    async stop() {
      await due.stop();
      if (worker.getState() === 'RUNNING') worker.shutdown();
      // A forced end rejects; the upload that was cut off is made again by another worker.
      await ended.catch(() => undefined);
      await warehouses.close();
    },
  };
}

/** @returns whether there is more to look after at once */
async function lookAfterDue({ commandPool, client, settings }: WarehouseFlushDeps): Promise<boolean> {
  const claimed = await claimFlushes(commandPool, MAX_PER_LOOK);
  const due = [...claimed, ...(await countGains(commandPool))];
  const looks = await Promise.allSettled(due.map((each) => wake(client, settings, each)));
  for (const look of looks) if (look.status === 'rejected') throw look.reason;
  return claimed.length >= MAX_PER_LOOK;
}

/** Starts the workflow of a destination unless it runs, and tells it when there is news. */
async function wake(client: Client, settings: WarehouseFlushDeps['settings'], due: DueFlush): Promise<void> {
  const { organizationId, destinationId, destinationName, hasNews } = due;
  const retryMs = settings.HOOKYARD_WAREHOUSE_RETRY_SECONDS * 1000;
  const options = {
    workflowId: warehouseWorkflowId(destinationId),
    taskQueue: TASK_QUEUE,
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

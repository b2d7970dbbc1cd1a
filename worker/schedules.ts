// Schedules: housekeeping and the comparison of PostgreSQL with Temporal, shared by all workers. Their existence is checked
// periodically, because Temporal may lose its database.
import { type Client, ScheduleAlreadyRunning, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import type { NativeConnection } from '@temporalio/worker';
import type { Log } from '../core/log.ts';
import { causeOf } from '../core/log-cause.ts';
import { throttled } from '../core/throttled-log.ts';
import { ensureNamespace } from '../temporal-config/namespace.ts';
import { TASK_QUEUE } from '../core/workflow-names.ts';
import { type Watch, watch } from './watch.ts';

const LOOK_EVERY_MS = 30_000;

/** Each runs a workflow of this type without overlap; `atOnce`: also when the schedule is created. */
const SCHEDULES = [
  { scheduleId: 'hookyard-maintenance', workflowType: 'maintenance', everyMs: 300_000, atOnce: false },
  // A schedule is missing where Temporal has lost its database.
  { scheduleId: 'hookyard-reconciliation', workflowType: 'reconcile', everyMs: 120_000, atOnce: true },
];

/**
 * Creates the schedules that do not exist, and the namespace when Temporal has lost it.
 * @returns true when the namespace was created and the schedules are still missing
 */
async function ensureSchedules(client: Client, connection: NativeConnection, log: Log): Promise<boolean> {
  try {
    for (const schedule of SCHEDULES) await ensureSchedule(client, optionsOf(schedule));
    return false;
  } catch (error) {
    if (!(error instanceof NamespaceNotFoundError)) throw error;
    log.warn({ namespace: client.options.namespace }, 'Temporal does not know the namespace; it is made again');
    await ensureNamespace(connection, client.options.namespace, (details) =>
      log.warn({ details }, 'Temporal does not let this client set up its namespace'),
    );
    return true;
  }
}

function optionsOf({ scheduleId, workflowType, everyMs, atOnce }: (typeof SCHEDULES)[number]): ScheduleOptions {
  return {
    scheduleId,
    spec: { intervals: [{ every: everyMs }] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: everyMs },
    action: { type: 'startWorkflow', workflowType, taskQueue: TASK_QUEUE, workflowId: workflowType },
    state: { triggerImmediately: atOnce },
  };
}

async function ensureSchedule(client: Client, options: ScheduleOptions): Promise<void> {
  try {
    await client.schedule.create(options);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}

export interface KeptSchedules extends Watch {
  /** What Temporal has refused, in its words; null: nothing. A key that may not make schedules may not work on tasks either. */
  readonly refusal: string | null;
}

// Names of gRPC statuses.
const REFUSALS = ['PERMISSION_DENIED', 'UNAUTHENTICATED'];

/** Failure policy: without schedules only housekeeping and repairs wait; deliveries continue. */
export function keepSchedules(client: Client, connection: NativeConnection, log: Log): KeptSchedules {
  let refusal: string | null = null;
  const loop = watch(
    async () => {
      const more = await ensureSchedules(client, connection, log);
      refusal = null;
      return more;
    },
    {
      everyMs: LOOK_EVERY_MS,
      onError(error) {
        const cause = causeOf(error);
        refusal = cause.system === 'temporal' && REFUSALS.includes(cause.code ?? '') ? cause.details : null;
        throttled(log).warn({ cause }, 'schedules could not be made; they are tried again');
      },
    },
  );
  return {
    get refusal() {
      return refusal;
    },
    stop: () => loop.stop(),
  };
}

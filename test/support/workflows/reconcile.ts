// The comparison of PostgreSQL with Temporal, run when a test wants it instead of at its next time.
import { type ScheduleDescription, WorkflowNotFoundError } from '@temporalio/client';
import { newId } from '../../../core/text/ids.ts';
import { TASK_QUEUE, withPrefix } from '../../../core/temporal/names.ts';
import type { reconcile } from '../../../workflows/maintenance.ts';
import type { Hookyard } from '../hookyard.ts';
import { until } from '../until.ts';

const SCHEDULE_ID = 'hookyard-reconciliation';

/**
 * Stops its schedule, which a worker has made, and waits for what it began: what a test plants is repaired by that test
 * alone.
 */
export async function pauseReconciliation({ temporal }: Hookyard): Promise<void> {
  const schedule = temporal.schedule.getHandle(SCHEDULE_ID);
  await until('its schedule to be there', () => schedule.describe());
  await schedule.pause('a test runs it');
  // It is made with a run to be started at once, which a pause does not take back.
  const { info } = await until<ScheduleDescription>('its first run to begin', async () => {
    const description = await schedule.describe();
    if (description.info.numActionsTaken === 0) throw new Error('it has not begun');
    return description;
  });
  for (const { action } of info.recentActions) await temporal.workflow.getHandle(action.workflow.workflowId).result();
}

/**
 * Runs it through once, the list of running workflows included.
 * @param prefix of the installation
 * @returns what was repaired, by kind
 */
export async function reconcileNow({ temporal, pool }: Hookyard, prefix = ''): Promise<Record<string, number>> {
  await pool.query(`update upkeep set last_at = '-infinity' where kind = 'listing'`);
  return temporal.workflow.execute<typeof reconcile>('reconcile', {
    workflowId: newId('req'),
    taskQueue: withPrefix(prefix, TASK_QUEUE),
    args: [],
  });
}

/** As if the time of a delivery's next attempt had long passed. */
export async function makeOverdue({ pool }: Hookyard, deliveryId: string): Promise<void> {
  await pool.query(`update deliveries set next_attempt_at = now() - interval '1 hour' where id = $1`, [deliveryId]);
}

/** Has Temporal forget a workflow, as it forgets all of them with its database. Returns when it has. */
export async function forgetWorkflow({ temporal }: Hookyard, workflowId: string): Promise<void> {
  const { namespace } = temporal.options;
  await temporal.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
  const handle = temporal.workflow.getHandle(workflowId);
  const isGone = (error: unknown) => error instanceof WorkflowNotFoundError;
  await until('Temporal to forget it', () => handle.describe().then(() => false, isGone));
}

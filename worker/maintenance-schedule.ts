// The schedule that runs housekeeping, the same one for all workers.
import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Log } from '../core/log.ts';
import type { maintenance } from '../workflows/maintenance.ts';
import { TASK_QUEUE } from '../workflows/messages.ts';

export const MAINTENANCE_SCHEDULE = 'hookyard-maintenance';
const EVERY_MS = 300_000;

/** Creates the schedule unless it exists. Failure policy: without it only housekeeping waits, so deliveries go on. */
export async function ensureMaintenanceSchedule(client: Client, log: Log): Promise<void> {
  try {
    await client.schedule.create<typeof maintenance>({
      scheduleId: MAINTENANCE_SCHEDULE,
      spec: { intervals: [{ every: EVERY_MS }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: EVERY_MS },
      action: { type: 'startWorkflow', workflowType: 'maintenance', taskQueue: TASK_QUEUE, workflowId: 'maintenance' },
    });
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return;
    log.warn(
      { error: String(error) },
      'the maintenance schedule could not be made; it is tried again at the next start',
    );
  }
}

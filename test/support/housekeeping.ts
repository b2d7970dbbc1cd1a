// Housekeeping, run when a test wants it instead of at its next time.
import { newId } from '../../core/ids.ts';
import { TASK_QUEUE } from '../../core/workflow-names.ts';
import type { maintenance } from '../../workflows/maintenance.ts';
import type { Hookyard } from './hookyard.ts';

/** Runs it until nothing is left to do, by whichever worker runs. */
export async function keepHouse({ temporal }: Pick<Hookyard, 'temporal'>): Promise<void> {
  await temporal.workflow.execute<typeof maintenance>('maintenance', {
    workflowId: newId('req'),
    taskQueue: TASK_QUEUE,
    args: [],
  });
}

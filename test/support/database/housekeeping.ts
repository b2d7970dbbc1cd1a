// Housekeeping, run when a test wants it instead of at its next time.
import { newId } from '../../../core/text/ids.ts';
import { TASK_QUEUE, withPrefix } from '../../../core/temporal/names.ts';
import type { maintenance } from '../../../workflows/maintenance.ts';
import type { Hookyard } from '../hookyard.ts';

/**
 * Runs it until nothing is left to do, by whichever worker of the installation runs.
 * @param prefix of the installation
 */
export async function keepHouse({ temporal }: Pick<Hookyard, 'temporal'>, prefix = ''): Promise<void> {
  await temporal.workflow.execute<typeof maintenance>('maintenance', {
    workflowId: newId('req'),
    taskQueue: withPrefix(prefix, TASK_QUEUE),
    args: [],
  });
}

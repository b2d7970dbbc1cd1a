// Housekeeping, run when a test wants it instead of at its next time.
import { newId } from '../../../core/text/ids.ts';
import { TASK_QUEUE, withPrefix } from '../../../core/temporal/names.ts';
import type { maintenance } from '../../../workflows/maintenance.ts';
import { maintain } from '../../../activities/maintenance/index.ts';
import { readSettings } from '../../../core/config/config.ts';
import { TUNING } from '../../../core/config/tuning.ts';
import { createLog } from '../../../core/process/log.ts';
import type { Pool } from '../../../db/connections/pool.ts';
import { SecretBox } from '../../../db/encryption/secret-box.ts';
import type { Hookyard } from '../hookyard.ts';
import { unusedTemporal } from '../servers/unused-temporal.ts';

/** Of an installation that keeps everything. */
const KEEPS_ALL = { ...readSettings({}), HOOKYARD_EVENT_RETENTION_DAYS: 0, HOOKYARD_PAYLOAD_RETENTION_DAYS: 0 };

/** What a round of housekeeping needs, without any worker or Temporal. */
const housekeeping = (pool: Pool) => ({
  ...{ pool, client: unusedTemporal(), settings: KEEPS_ALL, tuning: TUNING },
  secretBox: new SecretBox([{ id: 'unused', key: Buffer.alloc(32) }]),
  log: createLog({ LOG_LEVEL: 'silent' }, 'worker'),
});

/** One round. @returns whether there is more to do */
export const maintainOnce = (pool: Pool): Promise<boolean> => maintain(housekeeping(pool));

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

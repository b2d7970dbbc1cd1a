// Housekeeping, started by a Temporal Schedule: partitions ahead, retention, rows of deleted sources.
import { proxyActivities, sleep } from '@temporalio/workflow';
import { HEARTBEAT_TIMEOUT_MS, ONCE } from './own-side.ts';
import type { Activities } from '../activities/types.ts';

const { maintain } = proxyActivities<Activities>({
  startToCloseTimeout: 120_000,
  heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
  retry: ONCE,
});

// Bounds one run's history; the rest waits for the next run of the schedule.
const MAX_ROUNDS = 1000;

/** Runs rounds until nothing is left to do. A round that fails ends the run; the schedule starts the next one. */
export async function maintenance(): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if (!(await maintain())) return;
    await sleep(50);
  }
}

// Housekeeping, started by a Temporal Schedule: partitions ahead, retention, rows of deleted sources.
import { continueAsNew, proxyActivities, setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import type { Activities, ReconcilePosition, ReconcileStep, Repairs } from '../activities/types.ts';
import { HEARTBEAT_TIMEOUT_MS, ONCE } from './own-side.ts';
import type { ReconcileInput } from './signals-and-queries.ts';

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

// Compares PostgreSQL with Temporal and repairs what disagrees, started by a Temporal Schedule. Its result, which the
// Temporal UI shows, says what was repaired.

const activities = proxyActivities<Activities>({
  startToCloseTimeout: 120_000,
  heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
  retry: ONCE,
});

const PAUSE_MS = 50;

/** A step that fails ends the run; the schedule starts the next one. */
export async function reconcile(input: ReconcileInput = {}): Promise<Repairs> {
  const repairs: Repairs = { ...input.repairs };
  let position: ReconcilePosition | null = input.from ?? { part: 'wake-ups' };
  for (;;) {
    const step: ReconcileStep = await activities.reconcile(position);
    for (const [kind, count] of Object.entries(step.repairs)) repairs[kind] = (repairs[kind] ?? 0) + count;
    setCurrentDetails(describe(repairs));
    position = step.next;
    if (position === null) return repairs;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof reconcile>({ from: position, repairs });
    await sleep(PAUSE_MS);
  }
}

function describe(repairs: Repairs): string {
  const lines = Object.entries(repairs).map(([kind, count]) => `* ${kind}: ${count}`);
  return lines.length === 0
    ? 'No inconsistencies between PostgreSQL and Temporal have been found so far.'
    : `Repaired so far:\n\n${lines.join('\n')}`;
}

// The run: load, rounds of faults, and how long the flow took to recover after each.
import { setTimeout as pause } from 'node:timers/promises';
import { oneLine } from '../../local/errors.ts';
import { faultAction, type Victims } from './faults.ts';
import type { Ledger } from './ledger.ts';
import type { Fault, Round } from './schedule.ts';

// Longer than this and the flow counts as stuck.
const RECOVERY_DEADLINE_MS = 120_000;
const LOOK_AGAIN_MS = 20;

/** A fault that has been done. Times are those of `performance.now()`. */
export interface FaultRecord {
  fault: Fault;
  startedAt: number;
  /** When it was lifted: a process that was ended is being started again from here on. */
  endedAt: number;
  /**
   * From its end to the first webhook sent after it that was acknowledged, and to the first that arrived; null: not in
   * time.
   */
  recoveredMs: number | null;
  /** Why it could not be done or undone as meant. */
  problem: string | null;
}

export interface RunOptions {
  rounds: Round[];
  victims: Victims;
  ledger: Ledger;
  /** When there is to be no further round, `performance.now()` ms. */
  until: number;
  signal: AbortSignal;
  onRound: (records: FaultRecord[], done: number) => void;
}

/** Does one round after the other, each when the flow has recovered from the one before. */
export async function tortureRounds(options: RunOptions): Promise<FaultRecord[]> {
  const records: FaultRecord[] = [];
  for (const { peaceSeconds, faults } of options.rounds) {
    if (options.signal.aborted || performance.now() > options.until) break;
    await rest(peaceSeconds, options.signal);
    const done = await Promise.all(faults.map((fault) => torture(fault, options)));
    records.push(...done);
    options.onRound(done, records.length);
  }
  return records;
}

async function torture(fault: Fault, { victims, ledger, signal }: RunOptions): Promise<FaultRecord> {
  await rest(fault.afterSeconds, signal);
  const action = faultAction(fault, victims);
  const startedAt = performance.now();
  let problem: string | null = null;
  try {
    await action.begin();
    await rest(fault.seconds, signal);
  } catch (error) {
    problem = oneLine(error);
  }
  const endedAt = performance.now();
  // The flow may be well before a process that was killed is: both APIs, and both workers, do the same.
  const [recoveredMs] = await Promise.all([
    recovery(endedAt, fault, victims, ledger, signal),
    action.undo().catch((error: unknown) => {
      problem = oneLine(error);
    }),
  ]);
  return { fault, startedAt, endedAt, recoveredMs, problem };
}

/** How long after `since` both ends of the flow moved again; for a receiver, when something reached it. */
async function recovery(
  since: number,
  fault: Fault,
  { receivers }: Victims,
  ledger: Ledger,
  signal: AbortSignal,
): Promise<number | null> {
  const receiver = receivers.get(fault.target);
  const before = receiver?.arrivals.length ?? 0;
  // Nothing comes to a backup while its primary is well.
  const hasArrived = () =>
    receiver && !receiver.name.endsWith('-backup') ? receiver.arrivals.length > before : ledger.latestArrived > since;
  while (!(ledger.latestAcknowledged > since && hasArrived())) {
    if (performance.now() - since > RECOVERY_DEADLINE_MS || signal.aborted) return null;
    await pause(LOOK_AGAIN_MS);
  }
  return performance.now() - since;
}

async function rest(seconds: number, signal: AbortSignal): Promise<void> {
  if (seconds > 0) await pause(seconds * 1000, undefined, { signal }).catch(() => {});
}

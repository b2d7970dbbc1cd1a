// Backpressure on the organization that sends most. While it sends more than this process does with ease, and others send too, its
// webhooks are answered later: they are stored and delivered as always, and a sender that waits for answers sends less meanwhile. Alone,
// or with room to spare, nobody waits. Rule: LIMIT-21.
import { setTimeout as delay } from 'node:timers/promises';
import { type Load, partOf } from '../core/load-part.ts';
import { measuredLoopUse, measuredMachineUse } from '../core/machine-load.ts';
import { ingestLateAnswers } from '../core/metrics/ingest.ts';
import { WindowCounts } from '../core/window-counts.ts';
import type { AppContext, Next } from './context.ts';

const WINDOW_MS = 1000;
/** Webhooks of an organization in a window for which nobody has to be held back. */
const FEW = 100;
/** Of all webhooks of a window. */
const MOST = 0.75;
const MAX_LATE_MS = 200;
/** Answers that wait, in this process. Those beyond are not late: a sender with so many connections does not wait for answers anyway. */
const MOST_WAITING = 100;
/** Shares of the time in which the event loop is busy: from the first on answers are late, from the second on by `MAX_LATE_MS`. */
const LOOP: Load = { busy: 0.1, full: 0.25 };
/** The same for the processors of the machine, which PostgreSQL, Temporal and workers may share. */
const MACHINE: Load = { busy: 0.5, full: 0.8 };

export interface LateAnswersOptions {
  /** The share of the time in which the event loop was busy, 0 to 1. */
  loopUse?: () => number;
  /** In which the processors of the machine were. */
  machineUse?: () => number;
  late?: (ms: number) => Promise<unknown>;
}

/** Middleware, outside the one that logs and measures: their figures are those of the work. */
export function lateAnswers({
  loopUse = measuredLoopUse(),
  machineUse = measuredMachineUse(),
  late = (ms) => delay(ms),
}: LateAnswersOptions = {}): (ctx: AppContext, next: Next) => Promise<void> {
  let heaviest: string | null = null;
  const counts = new WindowCounts({
    windowMs: WINDOW_MS,
    onPassed: (passed) => {
      heaviest = heaviestOf(passed);
    },
  });
  let waiting = 0;
  return async (ctx, next) => {
    await next();
    const { source } = ctx.state;
    // Only what is accepted counts: strangers make nobody slow.
    if (source === undefined || ctx.status >= 400) return;
    counts.add(source.organizationId);
    if (source.organizationId !== heaviest || waiting >= MOST_WAITING) return;
    const ms = MAX_LATE_MS * Math.max(partOf(loopUse(), LOOP), partOf(machineUse(), MACHINE));
    if (ms < 1) return;
    ingestLateAnswers.add({});
    waiting += 1;
    try {
      await late(ms);
    } finally {
      waiting -= 1;
    }
  };
}

/** The organization that sent most, when others sent too. */
function heaviestOf(passed: ReadonlyMap<string, number>): string | null {
  let all = 0;
  for (const count of passed.values()) all += count;
  for (const [organizationId, count] of passed) {
    if (count > FEW && count < all && count >= MOST * all) return organizationId;
  }
  return null;
}

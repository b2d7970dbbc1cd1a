// Refusals beyond some a second are answered a second late. A client that asks again as soon as it is refused would else keep the event
// loop and a core busy, at the cost of others. A sender that is refused now and then does not notice it. Rules: LIMIT-19.
import { setTimeout as delay } from 'node:timers/promises';
import { WindowCounts } from '../core/window-counts.ts';
import type { AppContext, Next } from './context.ts';
import { isRefusal } from './refused-requests.ts';
import { isProbe } from './request-log.ts';

const LATE_MS = 1000;
const WINDOW_MS = 1000;
/** Answers that wait, in this process; each holds its connection and a few KiB. Beyond them refusals are answered at once. */
const MOST_WAITING = 1000;
/** Organizations and addresses counted apart in a second. */
const MOST_COUNTED = 10_000;

/**
 * Middleware, outside the one that logs and measures: their figures are those of the work.
 * @param promptPerSecond refusals of an organization, or of an address without its key, that are answered at once
 * @param late resolves when a late answer is due
 */
export function lateRefusals(
  promptPerSecond: number,
  late: () => Promise<unknown> = () => delay(LATE_MS),
): (ctx: AppContext, next: Next) => Promise<void> {
  const counts = new WindowCounts({ windowMs: WINDOW_MS, mostNames: MOST_COUNTED });
  let waiting = 0;
  return async (ctx, next) => {
    await next();
    if (isProbe(ctx) || !isRefusal(ctx.status, ctx.state.caller !== undefined)) return;
    if (counts.add(refusedOne(ctx)) <= promptPerSecond || waiting >= MOST_WAITING) return;
    waiting += 1;
    try {
      await late();
    } finally {
      waiting -= 1;
    }
  };
}

/** Without a key never the organization: that would tell a stranger which sources there are. */
const refusedOne = ({ state: { caller, client } }: AppContext): string => caller?.organization.id ?? client.client;

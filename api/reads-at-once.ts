// Reads of an organization take turns in this process. A list is ten milliseconds of the event loop, and webhooks of others would wait
// behind all that came together. The next one that waits begins after a pause as long as the loop was busy during the last, so that
// reads of one organization leave about half of a full loop to others. They wait in the order in which they came. Rules: LIMIT-18.
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { type Limiter, limitConcurrency, QueueFullError } from '../core/limit-concurrency.ts';
import { callerOf, type Context, type Next } from './context.ts';
import { unavailable } from './errors.ts';

const AT_ONCE = 1;
const MOST_WAITING = 200;
/** A read that takes longer waits for PostgreSQL, and not for the loop: the next one begins. */
const LONGEST_HOLD_MS = 50;
// Organizations that read recently. One that is forgotten while it reads only gets another turn.
const MOST_KEPT = 1000;

interface Turns {
  limiter: Limiter;
  waiting: number;
}

/**
 * Middleware. Changes are left out: some wait for destinations and stores, and what they cost has limits of its own.
 * @param hold resolves when the turn of a read has ended
 */
export function readsAtOnce(hold = holdTurn): (ctx: Context, next: Next) => Promise<void> {
  const turnsOf = new LRUCache<string, Turns>({ max: MOST_KEPT });
  return async (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    const { id } = callerOf(ctx).organization;
    const turns = turnsOf.get(id) ?? { limiter: limitConcurrency(AT_ONCE, MOST_WAITING), waiting: 0 };
    turnsOf.set(id, turns);
    const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    turns.waiting += 1;
    const turn = turns.limiter(() => {
      begun.resolve();
      return hold(ended.promise, () => turns.waiting > 0);
    });
    turn.catch((error: unknown) => begun.reject(error instanceof QueueFullError ? tooMany() : error));
    try {
      await begun.promise.finally(() => (turns.waiting -= 1));
      await next();
    } finally {
      ended.resolve();
    }
  };
}

const tooMany = () => unavailable('Too many requests of this organization wait, so send fewer at a time');

async function holdTurn(ended: Promise<void>, isAwaited: () => boolean): Promise<void> {
  const before = performance.eventLoopUtilization();
  const stopped = new AbortController();
  const longest = delay(LONGEST_HOLD_MS, undefined, { ref: false, signal: stopped.signal }).catch(() => undefined);
  await Promise.race([ended, longest]);
  stopped.abort();
  const { active } = performance.eventLoopUtilization(before);
  if (isAwaited()) await delay(Math.min(active, LONGEST_HOLD_MS), undefined, { ref: false });
}

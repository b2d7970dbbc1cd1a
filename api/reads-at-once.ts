// How many reads of an organization are worked on at a time in this process: each is some milliseconds of the event loop, and webhooks
// of others would wait behind fifty that came together. The others wait in the order in which they came. Rules: LIMIT-18.
import { LRUCache } from 'lru-cache';
import { type Limiter, limitConcurrency, QueueFullError } from '../core/limit-concurrency.ts';
import { callerOf, type Context, type Next } from './context.ts';
import { unavailable } from './errors.ts';

const AT_ONCE = 6;
const MOST_WAITING = 200;
// Organizations that read recently. One that is forgotten while it reads only gets new places.
const MOST_KEPT = 1000;

/** Middleware. Changes are left out: some wait for destinations and stores, and what they cost has limits of its own. */
export function readsAtOnce(): (ctx: Context, next: Next) => Promise<void> {
  const limiters = new LRUCache<string, Limiter>({ max: MOST_KEPT });
  return async (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    const { id } = callerOf(ctx).organization;
    const limiter = limiters.get(id) ?? limitConcurrency(AT_ONCE, MOST_WAITING);
    limiters.set(id, limiter);
    await limiter(next).catch((error: unknown) => {
      if (error instanceof QueueFullError)
        throw unavailable('Too many requests of this organization wait, so send fewer at a time');
      throw error;
    });
  };
}

// Runs at most so many things at a time, in the order in which they were asked for.

export type Limiter = <T>(run: () => Promise<T>) => Promise<T>;

/** Too many are waiting for their turn. */
export class QueueFullError extends Error {
  override name = 'QueueFullError';
}

/** @param maxWaiting how many may wait; what is asked for then rejects with QueueFullError */
export function limitConcurrency(max: number, maxWaiting: number = Number.POSITIVE_INFINITY): Limiter {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (run) => {
    if (running >= max && waiting.length >= maxWaiting) throw new QueueFullError();
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await run();
    } finally {
      // The place passes to the next one without being free in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

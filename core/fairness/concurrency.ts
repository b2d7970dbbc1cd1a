import pMap from 'p-map';

export type Limiter = <T>(run: () => Promise<T>) => Promise<T>;

export class QueueFullError extends Error {
  override name = 'QueueFullError';
}

/**
 * Runs at most `max` things at a time, in the order in which they were asked for.
 * @param maxWaiting how many may wait; what is asked for then rejects with QueueFullError
 */
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
      // The slot passes to the next one without being free in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/**
 * Runs `work` for each item. A failure stops none of the others, so that one bad item holds up nothing; after as many
 * failures as run at a time nothing more begins: what all of them need is away then.
 * @throws the first failure, when everything that began has ended
 */
export async function eachOf<T>(
  items: Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const failures: unknown[] = [];
  await pMap(
    items,
    async (item) => {
      if (failures.length >= concurrency) return;
      await work(item).catch((error: unknown) => failures.push(error));
    },
    { concurrency },
  );
  if (failures.length > 0) throw failures[0];
}

/** As Promise.all, but nothing continues in the background. @throws the first error, when all have ended */
export async function settleAll<const Work extends readonly (Promise<unknown> | null | undefined)[]>(works: Work) {
  await Promise.allSettled(works);
  return Promise.all(works);
}

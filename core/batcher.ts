// Collects calls that arrive close together into groups, so that they share one statement and one commit.

/** The queue is full; the caller should refuse work and say when to retry. */
export class BatcherFullError extends Error {
  override readonly name = 'BatcherFullError';
}

export interface BatcherOptions<Item, Result> {
  /** Handles one group; the results belong to the items by position. When it rejects, every item of the group rejects. */
  run: (items: Item[]) => Promise<Result[]>;
  /** Most items in a group, and most weight (bytes, for example); an item heavier than `maxWeight` goes alone. */
  maxItems: number;
  maxWeight?: number;
  weigh?: (item: Item) => number;
  /**
   * Least time from the start of one group to the start of the next, ms. A call after a longer idle time does not wait; under
   * load, groups become larger and fewer. 0 by default.
   */
  spacingMs?: number;
  /** Groups that may run at the same time. */
  concurrency: number;
  /** Maximum queued items and weight; more are refused with BatcherFullError. */
  maxQueued: number;
  maxQueuedWeight?: number;
}

export interface Batcher<Item, Result> {
  submit(item: Item): Promise<Result>;
  /** Waits until everything submitted so far has been handled. */
  idle(): Promise<void>;
}

interface Entry<Item, Result> {
  item: Item;
  weight: number;
  resolve: (result: Result) => void;
  reject: (reason: unknown) => void;
}

/**
 * Makes a batcher. A call to an idle batcher waits only for the end of the current turn of the event loop; calls that arrive
 * while a group runs, or right after its start, form the next one. So the group grows with the load.
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  const queue: Entry<Item, Result>[] = [];
  let queuedWeight = 0;
  let running = 0;
  let scheduled = false;
  let startedAt = Number.NEGATIVE_INFINITY;
  let idleWaiters: (() => void)[] = [];

  function schedule(): void {
    if (scheduled || running >= options.concurrency || queue.length === 0) return;
    scheduled = true;
    const start = () => {
      scheduled = false;
      startedAt = performance.now();
      void runGroup(takeGroup());
      schedule();
    };
    const waitMs = startedAt + (options.spacingMs ?? 0) - performance.now();
    if (waitMs > 0) setTimeout(start, waitMs);
    else setImmediate(start);
  }

  function takeGroup(): Entry<Item, Result>[] {
    let count = 0;
    let weight = 0;
    while (count < queue.length && count < options.maxItems) {
      const next = weight + (queue[count]?.weight ?? 0);
      if (count > 0 && next > (options.maxWeight ?? Number.POSITIVE_INFINITY)) break;
      weight = next;
      count += 1;
    }
    queuedWeight -= weight;
    return queue.splice(0, count);
  }

  async function runGroup(group: Entry<Item, Result>[]): Promise<void> {
    running += 1;
    try {
      const results = await options.run(group.map((entry) => entry.item));
      for (const [index, entry] of group.entries()) entry.resolve(results[index] as Result);
    } catch (error) {
      for (const entry of group) entry.reject(error);
    } finally {
      running -= 1;
      schedule();
      if (running === 0 && queue.length === 0) {
        for (const wake of idleWaiters.splice(0)) wake();
      }
    }
  }

  return {
    submit(item) {
      const weight = options.weigh?.(item) ?? 0;
      const tooHeavy =
        queue.length > 0 && queuedWeight + weight > (options.maxQueuedWeight ?? Number.POSITIVE_INFINITY);
      if (queue.length >= options.maxQueued || tooHeavy) {
        return Promise.reject(new BatcherFullError(`${queue.length} items are waiting already`));
      }
      return new Promise<Result>((resolve, reject) => {
        queue.push({ item, weight, resolve, reject });
        queuedWeight += weight;
        schedule();
      });
    },
    idle() {
      if (running === 0 && queue.length === 0) return Promise.resolve();
      return new Promise<void>((resolve) => {
        idleWaiters = [...idleWaiters, resolve];
      });
    },
  };
}

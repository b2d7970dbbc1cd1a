// Collects calls that arrive close together into groups, so that they share one statement and one commit. Calls of several owners
// take turns.
import { leftFor } from './fair-share.ts';
import { TurnQueue } from './turn-queue.ts';

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
  /** Whose item it is: owners take turns in the groups, and share what may be queued (fair-share.ts). */
  ownerOf?: (item: Item) => string;
  /** Whether there is only one owner. */
  alone?: () => boolean;
}

export interface Batcher<Item, Result> {
  submit(item: Item): Promise<Result>;
  /** Waits until everything submitted so far has been handled. */
  idle(): Promise<void>;
}

interface Entry<Item, Result> {
  item: Item;
  owner: string;
  weight: number;
  resolve: (result: Result) => void;
  reject: (reason: unknown) => void;
}

/**
 * Makes a batcher. A call to an idle batcher waits only for the end of the current turn of the event loop; calls that arrive
 * while a group runs, or right after its start, form the next one. So the group grows with the load.
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  const queue = new TurnQueue<Entry<Item, Result>>();
  const { maxQueued, maxQueuedWeight = Number.POSITIVE_INFINITY } = options;
  let running = 0;
  let scheduled = false;
  let startedAt = Number.NEGATIVE_INFINITY;
  let idleWaiters: (() => void)[] = [];

  function schedule(): void {
    if (scheduled || running >= options.concurrency || queue.size === 0) return;
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
    const group: Entry<Item, Result>[] = [];
    let weight = 0;
    for (let next = queue.first(); next && group.length < options.maxItems; next = queue.first()) {
      weight += next.weight;
      if (group.length > 0 && weight > (options.maxWeight ?? Number.POSITIVE_INFINITY)) break;
      group.push(next);
      queue.shift();
    }
    return group;
  }

  function isFull(owner: string, weight: number): boolean {
    if (queue.size >= maxQueued || (queue.size > 0 && queue.weight + weight > maxQueuedWeight)) return true;
    if (options.ownerOf === undefined || options.alone?.()) return false;
    const own = queue.of(owner);
    const left = (limit: number, taken: number, its: number) => leftFor({ limit, taken, alone: false }, its);
    return (
      left(maxQueued, queue.size, own.size) <= 0 ||
      (own.size > 0 && left(maxQueuedWeight, queue.weight, own.weight) <= 0)
    );
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
      if (running === 0 && queue.size === 0) {
        for (const wake of idleWaiters.splice(0)) wake();
      }
    }
  }

  return {
    submit(item) {
      const weight = options.weigh?.(item) ?? 0;
      const owner = options.ownerOf?.(item) ?? '';
      if (isFull(owner, weight)) {
        return Promise.reject(new BatcherFullError(`${queue.size} items are waiting already`));
      }
      return new Promise<Result>((resolve, reject) => {
        queue.push({ item, owner, weight, resolve, reject });
        schedule();
      });
    },
    idle() {
      if (running === 0 && queue.size === 0) return Promise.resolve();
      return new Promise<void>((resolve) => {
        idleWaiters = [...idleWaiters, resolve];
      });
    },
  };
}

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
  /** How long items wait for others before a group starts. By default they do not. */
  linger?: Linger<Item>;
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

export interface Linger<Item> {
  /** Longest wait of an item, ms. */
  ms: number;
  /** As many items do not wait for more. */
  maxItems: number;
  /** An item that does not wait, nor do those before it. */
  isUrgent: (item: Item) => boolean;
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
  // Until when what is queued waits for more.
  let lingersUntil = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let idleWaiters: (() => void)[] = [];

  function schedule(): void {
    if (scheduled || running >= options.concurrency || queue.size === 0) return;
    scheduled = true;
    const at = Math.max(startedAt + (options.spacingMs ?? 0), lingersUntil);
    const waitMs = at - performance.now();
    if (waitMs > 0) timer = setTimeout(start, waitMs);
    else setImmediate(start);
  }

  function start(): void {
    timer = undefined;
    scheduled = false;
    startedAt = performance.now();
    void runGroup(takeGroup());
    schedule();
  }

  function linger(item: Item): void {
    if (!options.linger) return;
    const { ms, maxItems, isUrgent } = options.linger;
    if (queue.size >= maxItems || isUrgent(item)) stopLingering();
    else if (queue.size === 1) lingersUntil = performance.now() + ms;
  }

  function stopLingering(): void {
    if (lingersUntil === Number.NEGATIVE_INFINITY) return;
    lingersUntil = Number.NEGATIVE_INFINITY;
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    scheduled = false;
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
    // What is left has waited.
    lingersUntil = Number.NEGATIVE_INFINITY;
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
        linger(item);
        schedule();
      });
    },
    idle() {
      if (running === 0 && queue.size === 0) return Promise.resolve();
      stopLingering();
      schedule();
      return new Promise<void>((resolve) => {
        idleWaiters = [...idleWaiters, resolve];
      });
    },
  };
}

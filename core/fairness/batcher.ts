// Collects calls that arrive close together into groups, so that they share one statement and one commit. Calls of
// several owners take turns.
import { mayHold } from './fair-queue.ts';

/** The queue is full; the caller should refuse work and say when to retry. */
export class BatcherFullError extends Error {
  override readonly name = 'BatcherFullError';
}

export interface BatcherOptions<Item, Result> {
  /**
   * Handles one group; the results belong to the items by position. When it rejects, every item of the group rejects.
   */
  run: (items: Item[]) => Promise<Result[]>;
  /** Most items in a group, and most weight (bytes, for example); an item heavier than `maxWeight` goes alone. */
  maxItems: number;
  maxWeight?: number;
  weigh?: (item: Item) => number;
  /**
   * Least time from the start of one group to the start of the next, ms. A call after a longer idle time does not wait;
   * under load, groups become larger and fewer. 0 by default.
   */
  spacingMs?: number;
  /** How long items wait for others before a group starts. By default they do not. */
  linger?: Linger<Item>;
  concurrency: number;
  /** Maximum queued items and weight; more are refused with BatcherFullError. */
  maxQueued: number;
  maxQueuedWeight?: number;
  /** Whose item it is: owners take turns in the groups, and share what may be queued (fair-queue.ts). */
  ownerOf?: (item: Item) => string;
}

interface Linger<Item> {
  /** Longest wait of an item, ms. */
  ms: number;
  /** As many items do not wait for more. */
  maxItems: number;
  /** An item that does not wait, nor do those before it. */
  isUrgent: (item: Item) => boolean;
}

interface Entry<Item, Result> {
  item: Item;
  owner: string;
  weight: number;
  resolve: (result: Result) => void;
  reject: (reason: unknown) => void;
}

/**
 * A call to an idle batcher waits only for the end of the current turn of the event loop; calls that arrive while a
 * group runs, or right after its start, form the next one. So the group grows with the load.
 */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  readonly #queue = new RoundRobinQueue<Entry<Item, Result>>();
  #running = 0;
  #isScheduled = false;
  #startedAt = Number.NEGATIVE_INFINITY;
  /** Until when what is queued waits for more. */
  #lingersUntil = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #idleWaiters: (() => void)[] = [];

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
  }

  submit(item: Item): Promise<Result> {
    const weight = this.#options.weigh?.(item) ?? 0;
    const owner = this.#options.ownerOf?.(item) ?? '';
    if (this.#isFull(owner, weight)) {
      return Promise.reject(new BatcherFullError(`${this.#queue.size} items are already waiting`));
    }
    return new Promise<Result>((resolve, reject) => {
      this.#queue.push({ item, owner, weight, resolve, reject });
      this.#linger(item);
      this.#schedule();
    });
  }

  /** Waits until everything submitted so far has been handled. */
  idle(): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    this.#stopLingering();
    this.#schedule();
    return new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }

  get #isIdle(): boolean {
    return this.#running === 0 && this.#queue.size === 0;
  }

  #schedule(): void {
    const { concurrency, spacingMs = 0 } = this.#options;
    if (this.#isScheduled || this.#running >= concurrency || this.#queue.size === 0) return;
    this.#isScheduled = true;
    const waitMs = Math.max(this.#startedAt + spacingMs, this.#lingersUntil) - performance.now();
    const start = () => this.#start();
    if (waitMs > 0) this.#timer = setTimeout(start, waitMs);
    else setImmediate(start);
  }

  #start(): void {
    this.#timer = undefined;
    this.#isScheduled = false;
    this.#startedAt = performance.now();
    void this.#runGroup(this.#takeGroup());
    this.#schedule();
  }

  #linger(item: Item): void {
    if (!this.#options.linger) return;
    const { ms, maxItems, isUrgent } = this.#options.linger;
    if (this.#queue.size >= maxItems || isUrgent(item)) this.#stopLingering();
    else if (this.#queue.size === 1) this.#lingersUntil = performance.now() + ms;
  }

  #stopLingering(): void {
    if (this.#lingersUntil === Number.NEGATIVE_INFINITY) return;
    this.#lingersUntil = Number.NEGATIVE_INFINITY;
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isScheduled = false;
  }

  #takeGroup(): Entry<Item, Result>[] {
    const { maxItems, maxWeight = Number.POSITIVE_INFINITY } = this.#options;
    const group: Entry<Item, Result>[] = [];
    let weight = 0;
    for (let next = this.#queue.first(); next && group.length < maxItems; next = this.#queue.first()) {
      weight += next.weight;
      if (group.length > 0 && weight > maxWeight) break;
      group.push(next);
      this.#queue.shift();
    }
    this.#lingersUntil = Number.NEGATIVE_INFINITY;
    return group;
  }

  #isFull(owner: string, weight: number): boolean {
    const { maxQueued, maxQueuedWeight = Number.POSITIVE_INFINITY, ownerOf } = this.#options;
    const queue = this.#queue;
    if (queue.size >= maxQueued || (queue.size > 0 && queue.weight + weight > maxQueuedWeight)) return true;
    if (ownerOf === undefined) return false;
    const own = queue.of(owner);
    return !(
      mayHold(own.size, 1, maxQueued - queue.size - 1) &&
      mayHold(own.weight, weight, Math.max(0, maxQueuedWeight - queue.weight - weight))
    );
  }

  async #runGroup(group: Entry<Item, Result>[]): Promise<void> {
    this.#running += 1;
    try {
      const results = await this.#options.run(group.map((entry) => entry.item));
      for (const [index, entry] of group.entries()) entry.resolve(results[index] as Result);
    } catch (error) {
      for (const entry of group) entry.reject(error);
    } finally {
      this.#running -= 1;
      this.#schedule();
      if (this.#isIdle) for (const wake of this.#idleWaiters.splice(0)) wake();
    }
  }
}

interface Queued {
  owner: string;
  weight: number;
}

interface Own {
  size: number;
  weight: number;
}

const NONE: Own = { size: 0, weight: 0 };

/** A queue that is served round-robin by owner, and in the order of arrival for each. */
class RoundRobinQueue<Entry extends Queued> {
  /** In the order in which they are served; none is empty. */
  readonly #owners = new Map<string, Own & { entries: Entry[] }>();
  size = 0;
  weight = 0;

  of(owner: string): Own {
    return this.#owners.get(owner) ?? NONE;
  }

  push(entry: Entry): void {
    const own = this.#owners.get(entry.owner) ?? { entries: [], ...NONE };
    if (own.size === 0) this.#owners.set(entry.owner, own);
    own.entries.push(entry);
    this.#change(own, 1, entry.weight);
  }

  first(): Entry | undefined {
    const [own] = this.#owners.values();
    return own?.entries[0];
  }

  shift(): void {
    const [own] = this.#owners.values();
    const entry = own?.entries.shift();
    if (own === undefined || entry === undefined) return;
    this.#change(own, -1, -entry.weight);
    if (own.size > 0 && this.#owners.size === 1) return;
    this.#owners.delete(entry.owner);
    if (own.size > 0) this.#owners.set(entry.owner, own);
  }

  #change(own: Own, size: number, weight: number): void {
    own.size += size;
    own.weight += weight;
    this.size += size;
    this.weight += weight;
  }
}

// Threads for the code and the payloads of tenants, started when there is something to do, with hard limits of time and memory.
// Organizations share them and take turns (core/fairness/fair-queue.ts). There is one thread more than a single organization may use, so another
// one finds a thread however long the work of the first takes.
import { setTimeout as delay } from 'node:timers/promises';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { FairQueue } from '../core/fairness/fair-queue.ts';
import { endInTime, type ThreadDeadline } from './thread-deadline.ts';

// What a thread needs to start, or to load a library, on a busy machine.
const START_DEADLINE_MS = 20_000;
export const WAIT_DEADLINE_MS = 20_000;
// Mostly a thread is free sooner than one more has started.
const FREE_WITHIN_MS = 100;
const MAX_REMEMBERED = 1000;

export interface ThreadPoolOptions {
  /** How many run at once for one organization, 1 or more. */
  threads: number;
  script: URL;
  resourceLimits: ResourceLimits;
  /** From when the work has begun: only what its own budgets do not see comes here. */
  deadline: ThreadDeadline;
}

export interface ThreadWork<Task> {
  organizationId: string;
  /** Names what a thread needs to have for it, besides the task. */
  key?: string | null;
  /**
   * The task, made when its turn has come. @param isKnown whether the thread should have what `key` names
   * @returns it, and the buffers that are handed over
   */
  task(isKnown: boolean): { task: Task; handedOver: ArrayBuffer[] };
}

/** Times are processor time in ms: what the thread had used when the work began, then what the work took. */
export type ThreadMessage<Result> =
  | { type: 'started'; cpuMs: number }
  | { type: 'done'; cpuMs: number; result: Result }
  | { type: 'failed'; cpuMs: number; error: string };

/** Nothing is known of the work. `late`: its turn did not come in time; `silent`: the thread did not answer; `died`: see its cause. */
export class NoThreadError extends Error {
  override readonly name = 'NoThreadError';
  readonly reason: 'late' | 'ending' | 'silent' | 'died';
  constructor(reason: NoThreadError['reason'], cause?: Error) {
    super(`no thread did it: ${reason}`, { cause });
    this.reason = reason;
  }
}

/** The work cannot be done: it failed, or a thread was ended for it. */
export class WorkEndedError extends Error {
  override readonly name = 'WorkEndedError';
  readonly reason: 'time' | 'memory' | 'error';
  constructor(reason: WorkEndedError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

interface Slot<Result> {
  worker: Worker;
  /** Null: it is idle. */
  running: {
    resolve: (done: { result: Result; cpuMs: number }) => void;
    reject: (error: Error) => void;
    started: boolean;
  } | null;
  timer?: NodeJS.Timeout;
  /** Ends the watch over its work. */
  unwatch?: () => void;
  knows: Set<string>;
}

const overTime = new Error('it took too long');

export class ThreadPool<Task, Result> {
  readonly #options: ThreadPoolOptions;
  readonly #queue: FairQueue;
  readonly #slots = new Set<Slot<Result>>();
  /** When the next thread is free. */
  #freed = Promise.withResolvers<void>();
  #closed = false;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
    this.#queue = new FairQueue(options.threads + 1);
  }

  /** Does work when it is the turn of its organization. @throws NoThreadError, WorkEndedError, or what `task` throws */
  async run(work: ThreadWork<Task>): Promise<{ result: Result; cpuMs: number }> {
    const leave = await this.#queue.take(work.organizationId, { waitMs: WAIT_DEADLINE_MS });
    if (leave === null) throw new NoThreadError('late');
    try {
      if (this.#slots.size >= this.#options.threads && !this.#idleSlot(work.key))
        await Promise.race([this.#freed.promise, delay(FREE_WITHIN_MS)]);
      if (this.#closed) throw new NoThreadError('ending');
      return await this.#begin(this.#idleSlot(work.key) ?? this.#start(), work);
    } finally {
      leave();
    }
  }

  /** Ends the threads; what runs and what waits is rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    const slots = [...this.#slots];
    for (const slot of slots) this.#end(slot);
    await Promise.all(slots.map(({ worker }) => worker.terminate()));
  }

  #idleSlot(key: string | null | undefined): Slot<Result> | undefined {
    const idle = [...this.#slots].filter(({ running }) => running === null);
    return idle.find(({ knows }) => typeof key === 'string' && knows.has(key)) ?? idle[0];
  }

  #start(): Slot<Result> {
    // No setting and no secret of this process is in the thread's environment.
    const { script, resourceLimits } = this.#options;
    const worker = new Worker(script, { env: {}, resourceLimits });
    const slot: Slot<Result> = { worker, running: null, knows: new Set() };
    this.#slots.add(slot);
    worker.on('message', (message: ThreadMessage<Result>) => this.#heard(slot, message));
    worker.on('error', (error: Error) => this.#end(slot, error));
    worker.on('exit', () => this.#end(slot, new Error('the thread ended')));
    return slot;
  }

  #begin(slot: Slot<Result>, { key, task: make }: ThreadWork<Task>): Promise<{ result: Result; cpuMs: number }> {
    const { task, handedOver } = make(typeof key === 'string' && slot.knows.has(key));
    if (typeof key === 'string') remember(slot.knows, key);
    return new Promise((resolve, reject) => {
      slot.running = { resolve, reject, started: false };
      slot.timer = setTimeout(() => this.#end(slot), START_DEADLINE_MS);
      slot.worker.ref();
      slot.worker.postMessage(task, handedOver);
    });
  }

  #heard(slot: Slot<Result>, message: ThreadMessage<Result>): void {
    const { running } = slot;
    if (!this.#slots.has(slot) || running === null) return;
    endWaits(slot);
    if (message.type === 'started') {
      running.started = true;
      slot.unwatch = endInTime(slot.worker, this.#options.deadline, message.cpuMs, () => this.#end(slot, overTime));
      return;
    }
    slot.running = null;
    slot.worker.unref();
    this.#freed.resolve();
    this.#freed = Promise.withResolvers<void>();
    if (message.type === 'done') running.resolve({ result: message.result, cpuMs: message.cpuMs });
    else running.reject(new WorkEndedError('error', message.error));
  }

  /**
   * Ends a thread that overran its deadline or died. Failure policy: once the work has begun that is the fault of the work, which
   * would do it again; before, it is our own and nothing is said about the work. Only the work can fill the memory of a thread, also
   * while it is read.
   * @param error undefined: the thread did not answer, or the pool ends
   */
  #end(slot: Slot<Result>, error?: Error): void {
    if (!this.#slots.delete(slot)) return;
    endWaits(slot);
    void slot.worker.terminate();
    const { running } = slot;
    if (running === null) return;
    const isMemory = error !== undefined && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    if (this.#closed) running.reject(new NoThreadError('ending'));
    else if (error === undefined) running.reject(new NoThreadError('silent'));
    else if (!running.started && !isMemory) running.reject(new NoThreadError('died', error));
    else {
      const reason = error === overTime ? 'time' : isMemory ? 'memory' : 'error';
      running.reject(new WorkEndedError(reason, error.message));
    }
  }
}

function endWaits({ timer, unwatch }: Pick<Slot<never>, 'timer' | 'unwatch'>): void {
  clearTimeout(timer);
  unwatch?.();
}

function remember(names: Set<string>, name: string): void {
  if (names.size >= MAX_REMEMBERED) names.clear();
  names.add(name);
}

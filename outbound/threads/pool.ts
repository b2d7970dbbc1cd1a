// Threads for the code and the payloads of tenants: filters, schemas, field mappings, rows of files and transforms.
// They are started when there is something to do, with hard limits of time and memory. Organizations share them and
// take turns (core/fairness/fair-queue.ts). There is one thread more than a single organization may use, so another one
// finds a thread however long the work of the first takes.
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { FairQueue } from '../../core/fairness/fair-queue.ts';
import { type DescribedError, named, openError, ownWords } from '../../core/text/error-summary.ts';
import { LIMITS } from '../transforms/language.ts';
import { NoThreadError, NoTurnError, WAIT_DEADLINE_MS } from './errors.ts';
import { buffersIn, type ResultOf, type TaskKind, type TaskOf } from './tasks.ts';

// What a thread needs to start, or to load a library, on a busy machine.
const START_DEADLINE_MS = 20_000;
// Mostly a thread is free sooner than one more has started.
const FREE_WITHIN_MS = 100;
// When there may be a thread again for what got none in time.
const LATE_WAIT_MS = 5000;
const MAX_REMEMBERED = 1000;

// Parsed JSON takes up to fifty times its bytes. The memory of QuickJS is outside of these; its deep calls need the
// stack.
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64, stackSizeMb: 16 };

interface Deadline {
  /** Processor time, which does not grow while others use the machine. */
  cpuMs: number;
  /** Time on the clock, also while others have the processor. Well above `cpuMs`. */
  wallMs: number;
}

// From when the work has begun, and well above the budgets that tasks keep to by themselves: only what no budget sees
// comes here.
const DEADLINE: Deadline = { cpuMs: 20_000, wallMs: 60_000 };
const DEADLINES: Partial<Record<TaskKind, Deadline>> = {
  transform: { cpuMs: LIMITS.terminateMs, wallMs: LIMITS.clockMs },
};

export interface Work<Kind extends TaskKind> {
  organizationId: string;
  kind: Kind;
  key?: string | null;
  /**
   * Processor time that the organization may use in a minute for work of such a budget, ms; by default it is not
   * counted.
   */
  budget?: number;
  /**
   * The task, made when its turn has come; its bytes are handed over.
   * @param isKnown whether the thread should have what `key` names
   */
  task(isKnown: boolean): TaskOf<Kind>;
}

/** Times are processor time in ms: what the thread had used when the work began, then what the work took. */
export type ThreadMessage =
  | { type: 'started'; cpuMs: number }
  | { type: 'done'; cpuMs: number; result: ResultOf<TaskKind> }
  | { type: 'failed'; cpuMs: number; error: string };

const ENDING = openError(ownWords`The process is shutting down`);
const SILENT = openError(ownWords`A thread did not respond in time`);

/** It may quote the payload. */
const died = ({ name, message }: Error): DescribedError => ({
  summary: ownWords`A thread ended unexpectedly (${named(name)})`,
  detail: `A thread ended unexpectedly: ${message}`,
});

export class WorkEndedError extends Error {
  override readonly name = 'WorkEndedError';
  readonly reason: 'time' | 'memory' | 'error';
  constructor(reason: WorkEndedError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

interface Slot {
  worker: Worker;
  /** Null: it is idle. */
  running: {
    deadline: Deadline;
    resolve: (done: { result: ResultOf<TaskKind>; cpuMs: number }) => void;
    reject: (error: Error) => void;
    started: boolean;
  } | null;
  timer?: NodeJS.Timeout;
  unwatch?: () => void;
  knows: Set<string>;
}

const overTime = new Error('it took too long');

export class ThreadPool {
  readonly #threads: number;
  readonly #queue: FairQueue;
  readonly #budgets = new Budgets();
  readonly #slots = new Set<Slot>();
  #freed = Promise.withResolvers<void>();
  #closed = false;

  /** @param threads how many run at once for one organization, 1 or more */
  constructor(threads: number) {
    this.#threads = threads;
    this.#queue = new FairQueue(threads + 1);
  }

  /** Does work when it is the turn of its organization. @throws NoThreadError, WorkEndedError, or what `task` throws */
  async run<Kind extends TaskKind>(work: Work<Kind>): Promise<ResultOf<Kind>> {
    const { organizationId, budget = Number.POSITIVE_INFINITY } = work;
    this.#budgets.require(organizationId, budget);
    const leave = await this.#queue.take(organizationId, { waitMs: WAIT_DEADLINE_MS });
    if (leave === null) throw new NoTurnError('late', LATE_WAIT_MS);
    try {
      if (this.#slots.size >= this.#threads && !this.#idleSlot(work.key))
        await Promise.race([this.#freed.promise, delay(FREE_WITHIN_MS)]);
      if (this.#closed) throw new NoThreadError(ENDING);
      this.#budgets.require(organizationId, budget);
      const { result, cpuMs } = await this.#begin(this.#idleSlot(work.key) ?? this.#start(), work);
      this.#budgets.charge(organizationId, cpuMs, budget);
      return result as ResultOf<Kind>;
    } catch (error) {
      if (error instanceof WorkEndedError) this.#budgets.charge(organizationId, deadlineOf(work).cpuMs, budget);
      throw error;
    } finally {
      leave();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const slots = [...this.#slots];
    for (const slot of slots) this.#end(slot);
    await Promise.all(slots.map(({ worker }) => worker.terminate()));
  }

  #idleSlot(key: string | null | undefined): Slot | undefined {
    const idle = [...this.#slots].filter(({ running }) => running === null);
    return idle.find(({ knows }) => typeof key === 'string' && knows.has(key)) ?? idle[0];
  }

  #start(): Slot {
    // No setting and no secret of this process is in the thread's environment.
    const worker = new Worker(new URL('./thread.ts', import.meta.url), { env: {}, resourceLimits: RESOURCE_LIMITS });
    const slot: Slot = { worker, running: null, knows: new Set() };
    this.#slots.add(slot);
    worker.on('message', (message: ThreadMessage) => this.#heard(slot, message));
    worker.on('error', (error: Error) => this.#end(slot, error));
    worker.on('exit', () => this.#end(slot, new Error('no error was reported')));
    return slot;
  }

  #begin<Kind extends TaskKind>(slot: Slot, work: Work<Kind>): Promise<{ result: ResultOf<TaskKind>; cpuMs: number }> {
    const { key } = work;
    const task = work.task(typeof key === 'string' && slot.knows.has(key));
    if (typeof key === 'string') remember(slot.knows, key);
    return new Promise((resolve, reject) => {
      slot.running = { deadline: deadlineOf(work), resolve, reject, started: false };
      slot.timer = setTimeout(() => this.#end(slot), START_DEADLINE_MS);
      slot.worker.ref();
      slot.worker.postMessage({ kind: work.kind, task }, buffersIn(task));
    });
  }

  #heard(slot: Slot, message: ThreadMessage): void {
    const { running } = slot;
    if (!this.#slots.has(slot) || running === null) return;
    endWaits(slot);
    // Node keeps a module that could not be loaded, so this thread would fail all its work.
    if (message.type === 'failed' && !running.started) {
      this.#end(slot, new Error(message.error));
      return;
    }
    if (message.type === 'started') {
      running.started = true;
      slot.unwatch = endInTime(slot.worker, running.deadline, message.cpuMs, () => this.#end(slot, overTime));
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
   * Ends a thread that overran its deadline or died. Failure policy: once the work has begun that is the fault of the
   * work, which would do it again; before, it is our own and nothing is said about the work. Only the work can fill the
   * memory of a thread, also while it is read.
   * @param error undefined: the thread did not answer, or the pool ends
   */
  #end(slot: Slot, error?: Error): void {
    if (!this.#slots.delete(slot)) return;
    endWaits(slot);
    void slot.worker.terminate();
    const { running } = slot;
    if (running === null) return;
    const isMemory = error !== undefined && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    if (this.#closed) running.reject(new NoThreadError(ENDING));
    else if (error === undefined) running.reject(new NoThreadError(SILENT));
    else if (!running.started && !isMemory) running.reject(new NoThreadError(died(error)));
    else {
      const reason = error === overTime ? 'time' : isMemory ? 'memory' : 'error';
      running.reject(new WorkEndedError(reason, error.message));
    }
  }
}

const deadlineOf = ({ kind }: { kind: TaskKind }): Deadline => DEADLINES[kind] ?? DEADLINE;

function endWaits({ timer, unwatch }: Pick<Slot, 'timer' | 'unwatch'>): void {
  clearTimeout(timer);
  unwatch?.();
}

function remember(names: Set<string>, name: string): void {
  if (names.size >= MAX_REMEMBERED) names.clear();
  names.add(name);
}

// Below it a thread is not asked for its processor time again.
const LEAST_WAIT_MS = 50;

/**
 * Ends work that has used its time.
 * @param cpuAtStart processor time of the thread when the work began, in ms
 * @param end called once, and only while the work continues
 * @returns what to call when the work has ended
 */
export function endInTime(
  worker: Worker,
  { cpuMs, wallMs }: Deadline,
  cpuAtStart: number,
  end: () => void,
): () => void {
  const endsAt = performance.now() + wallMs;
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const overrun = () => {
    if (isOver) return;
    isOver = true;
    end();
  };
  // Messages that came in while this process itself was busy are heard first.
  const after = (ms: number, what: () => void) => {
    timer = setTimeout(() => setImmediate(() => !isOver && what()), ms);
  };
  const look = () => {
    // A thread answers between two steps of its code. One that does not is ended at the latest by the clock.
    after(Math.max(0, endsAt - performance.now()), overrun);
    worker.cpuUsage().then(
      ({ user, system }) => {
        if (isOver) return;
        clearTimeout(timer);
        const leftMs = Math.min(cpuMs + cpuAtStart - (user + system) / 1000, endsAt - performance.now());
        if (leftMs <= 0) overrun();
        else after(Math.max(leftMs, LEAST_WAIT_MS), look);
      },
      // The thread has ended, of which its pool hears by itself.
      () => undefined,
    );
  };
  after(cpuMs, look);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

const MINUTE_MS = 60_000;
const MAX_ORGANIZATIONS = 10_000;
const LONGEST_WAIT_MS = 10 * MINUTE_MS;

/**
 * Processor time that organizations may still take in this process: so much in a minute, and what they use beyond is
 * earned again first. Times are ms, by a monotonic clock.
 */
class Budgets {
  /** What is left, below 0 what must be earned first, and when that was. */
  readonly #accounts = new LRUCache<string, { left: number; at: number }>({ max: MAX_ORGANIZATIONS });

  /** @throws NoTurnError with a different time for each, so that what must wait does not come back all at once */
  require(organizationId: string, perMinute: number): void {
    const left = this.#leftOf(organizationId, perMinute);
    if (left > 0) return;
    const earnedMs = ((1 - left) * MINUTE_MS) / Math.max(1, perMinute);
    throw new NoTurnError('budget', Math.ceil(Math.min(earnedMs * (1 + Math.random()), LONGEST_WAIT_MS)));
  }

  charge(organizationId: string, ms: number, perMinute: number): void {
    if (perMinute === Number.POSITIVE_INFINITY) return;
    this.#accounts.set(organizationId, { left: this.#leftOf(organizationId, perMinute) - ms, at: performance.now() });
  }

  #leftOf(organizationId: string, perMinute: number): number {
    const account = this.#accounts.get(organizationId);
    if (account === undefined || perMinute === Number.POSITIVE_INFINITY) return perMinute;
    return Math.min(perMinute, account.left + ((performance.now() - account.at) * perMinute) / MINUTE_MS);
  }
}

// A few threads for filters, schemas and mappings, started when there is something to do, with hard limits of time and memory.
import { Worker } from 'node:worker_threads';
import type { Log } from '../../core/log.ts';
import { endInTime } from '../thread-deadline.ts';
import { ComputeQueue } from './compute-queue.ts';
import { ComputeBusyError, ComputeOverrunError, type ResultOf, type Task, type ThreadMessage } from './types.ts';

// What a thread needs to start on a busy machine.
const START_DEADLINE_MS = 20_000;
const WAIT_DEADLINE_MS = 20_000;
// Well above the budgets that tasks keep to by themselves: only what no budget sees comes here.
const HARD_DEADLINE = { cpuMs: 20_000, wallMs: 60_000 };
// Parsed JSON takes up to fifty times its bytes.
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64 };
/** Processor time. An organization whose last task took more is slow: such ones together leave a thread to the others. */
const SLOW_MS = 100;
const MAX_REMEMBERED = 1000;

/** Work for a thread. */
export interface Job {
  organizationId: string;
  kind: Task['kind'];
  /** What waits in memory for it. */
  bytes: number;
  /** Names what a thread needs to have for it, besides the task. */
  key?: string;
  /**
   * The task, made when its turn has come. @param isKnown whether the thread should have what `key` names
   * @returns it, and the buffers that are handed over
   */
  task(isKnown: boolean): { task: Task; handedOver: ArrayBuffer[] };
}

interface Waiting extends Job {
  resolve: (result: never) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

interface Slot {
  worker: Worker;
  state: 'starting' | 'idle' | 'busy';
  running: Waiting | null;
  /** Whether its work has begun. */
  started: boolean;
  timer: NodeJS.Timeout;
  /** Ends the watch over its work. */
  unwatch?: () => void;
  knows: Set<string>;
}

export class ComputePool {
  readonly #threads: number;
  readonly #log: Pick<Log, 'warn'>;
  readonly #slots = new Set<Slot>();
  readonly #queue = new ComputeQueue<Waiting>();
  readonly #slow = new Set<string>();
  #closed = false;

  /** @param threads how many run at once, 1 or more */
  constructor(threads: number, log: Pick<Log, 'warn'>) {
    this.#threads = threads;
    this.#log = log;
  }

  /**
   * Runs a job when it is the turn of its organization.
   * @throws ComputeBusyError, ComputeOverrunError
   */
  run<Kind extends Task['kind']>(job: Job & { kind: Kind }): Promise<ResultOf<Kind>> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new ComputeBusyError('The process is ending'));
      const waiting: Waiting = { ...job, resolve, reject, timer: setTimeout(() => late(), WAIT_DEADLINE_MS) };
      const late = () => {
        this.#queue.remove(waiting, false);
        reject(new ComputeBusyError(`Filters and schemas did not get their turn within ${WAIT_DEADLINE_MS / 1000} s`));
      };
      if (this.#queue.add(waiting)) return this.#dispatch();
      clearTimeout(waiting.timer);
      reject(new ComputeBusyError('Too much of this organization waits for its filters and schemas'));
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#refuseAll(new ComputeBusyError('The process is ending'));
    const slots = [...this.#slots];
    for (const slot of slots) this.#end(slot, new ComputeBusyError('The process is ending'));
    await Promise.all(slots.map((slot) => slot.worker.terminate()));
  }

  #dispatch(): void {
    while (!this.#closed) {
      const waiting = this.#queue.next((organizationId) => this.#mayRun(organizationId));
      if (!waiting) return;
      const slot = this.#idleSlot(waiting.key);
      if (slot) {
        this.#queue.remove(waiting, true);
        this.#begin(slot, waiting);
        continue;
      }
      const starting = [...this.#slots].filter((each) => each.state === 'starting').length;
      if (this.#slots.size >= this.#threads || starting >= this.#queue.size) return;
      this.#start();
    }
  }

  #mayRun(organizationId: string): boolean {
    if (!this.#slow.has(organizationId)) return true;
    const running = [...this.#slots].filter((slot) => slot.running && this.#slow.has(slot.running.organizationId));
    return running.length < Math.max(1, this.#threads - 1);
  }

  #idleSlot(key: string | undefined): Slot | undefined {
    const idle = [...this.#slots].filter((slot) => slot.state === 'idle');
    return idle.find((slot) => key !== undefined && slot.knows.has(key)) ?? idle[0];
  }

  #begin(slot: Slot, waiting: Waiting): void {
    clearTimeout(waiting.timer);
    slot.state = 'busy';
    slot.running = waiting;
    slot.started = false;
    slot.worker.ref();
    slot.timer = setTimeout(() => this.#end(slot, overTime), HARD_DEADLINE.wallMs + START_DEADLINE_MS);
    const { key } = waiting;
    const { task, handedOver } = waiting.task(key !== undefined && slot.knows.has(key));
    if (key !== undefined) remember(slot.knows, key);
    slot.worker.postMessage(task, handedOver);
  }

  #start(): void {
    // No setting and no secret of this process is in the thread's environment.
    const worker = new Worker(new URL('./compute-thread.ts', import.meta.url), {
      env: {},
      resourceLimits: RESOURCE_LIMITS,
    });
    const timer = setTimeout(() => this.#end(slot, neverStarted), START_DEADLINE_MS);
    const slot: Slot = { worker, state: 'starting', running: null, started: false, timer, knows: new Set() };
    this.#slots.add(slot);
    worker.on('message', (message: ThreadMessage) => this.#heard(slot, message));
    worker.on('error', (error: Error) => this.#end(slot, error));
    worker.on('exit', () => this.#end(slot, new Error('the thread ended')));
  }

  #heard(slot: Slot, message: ThreadMessage): void {
    if (!this.#slots.has(slot)) return;
    endWaits(slot);
    const { running } = slot;
    if (message.type === 'started') {
      slot.started = true;
      slot.unwatch = endInTime(slot.worker, HARD_DEADLINE, message.cpuMs, () => this.#end(slot, overTime));
      return;
    }
    if (running && message.type !== 'ready') this.#noteSpeed(running.organizationId, message.cpuMs);
    slot.state = 'idle';
    slot.running = null;
    slot.worker.unref();
    if (message.type === 'done') running?.resolve(message.result as never);
    if (message.type === 'failed') running?.reject(this.#overrun(running, 'error', message.error));
    this.#dispatch();
  }

  #noteSpeed(organizationId: string, cpuMs: number): void {
    if (cpuMs > SLOW_MS) remember(this.#slow, organizationId);
    else this.#slow.delete(organizationId);
  }

  /**
   * Ends a thread that overran its deadline or died. Failure policy: once the work has begun that is the fault of the work, which
   * would do it again; before, it is our own and nothing is said about the work.
   */
  #end(slot: Slot, error: Error): void {
    if (!this.#slots.delete(slot)) return;
    endWaits(slot);
    void slot.worker.terminate();
    const { running } = slot;
    const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    if (running) {
      const isItsFault = (slot.started || isMemory) && !this.#closed;
      if (isItsFault) remember(this.#slow, running.organizationId);
      const reason = error === overTime ? 'time' : isMemory ? 'memory' : 'error';
      running.reject(
        isItsFault
          ? this.#overrun(running, reason, error.message)
          : new ComputeBusyError('A thread for filters and schemas ended'),
      );
    } else if (slot.state === 'starting') {
      this.#refuseAll(new ComputeBusyError(`No thread for filters and schemas could be started: ${error.message}`));
    }
    this.#dispatch();
  }

  #overrun({ kind, organizationId }: Waiting, reason: ComputeOverrunError['reason'], message: string) {
    this.#log.warn({ kind, organizationId, reason }, 'work of an organization was ended');
    return new ComputeOverrunError(reason, message);
  }

  #refuseAll(error: ComputeBusyError): void {
    for (const waiting of this.#queue.all()) {
      this.#queue.remove(waiting, false);
      clearTimeout(waiting.timer);
      waiting.reject(error);
    }
  }
}

const overTime = new Error('it took too long');
const neverStarted = new Error('it did not answer in time');

function endWaits(slot: Slot): void {
  clearTimeout(slot.timer);
  slot.unwatch?.();
}

function remember(names: Set<string>, name: string): void {
  if (names.size >= MAX_REMEMBERED) names.clear();
  names.add(name);
}

// The host's side of the sandbox: a few threads, started when the first transform runs, and a fair queue before them.
import { Worker } from 'node:worker_threads';
import { named, openError, ownWords } from '../../core/error-summary.ts';
import { endInTime } from '../thread-deadline.ts';
import { Accounts } from './accounts.ts';
import { TransformQueue, type Waiting } from './transform-queue.ts';
import type { Job, ThreadMessage } from './sandbox-thread.ts';
import {
  LIMITS,
  NoTurnError,
  problems,
  SandboxUnavailableError,
  sandboxFailed,
  type TransformProblem,
  type TransformResult,
  type Turn,
} from './types.ts';

// What a thread needs to start, or to load a library, on a busy machine.
const START_DEADLINE_MS = 20_000;
// Beside QuickJS's own memory, which is outside of these: texts on their way in and out.
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32, stackSizeMb: 16 };
const CODE_DEADLINE = { cpuMs: LIMITS.terminateMs, wallMs: LIMITS.clockMs };
const MAX_REMEMBERED = 1000;
const OVER_BUDGET = openError(ownWords`The organization has used its transformMsPerMinute`);
const ENDING = openError(ownWords`The process is ending`);

/** A job with its organization's budget, ms per minute. */
type Budgeted = Waiting & { budget: number };

interface Slot {
  worker: Worker;
  state: 'starting' | 'idle' | 'busy';
  waiting: Budgeted | null;
  /** Whether the job's own code is running. */
  started: boolean;
  timer?: NodeJS.Timeout;
  /** Ends the watch over the job's own code. */
  unwatch?: () => void;
  /** Transforms it ran, so probably has warm. */
  knows: Set<string>;
}

/** Runs jobs on its own threads; the first job starts the first thread. */
export class SandboxPool {
  readonly #threads: number;
  readonly #slots = new Set<Slot>();
  readonly #queue = new TransformQueue<Budgeted>();
  readonly #accounts = new Accounts();
  /** Groups whose last job hit the time or memory limit: together they leave at least one thread to the others. */
  readonly #suspects = new Set<string>();
  #closed = false;

  /** @param threads how many run at once, 1 or more */
  constructor(threads: number) {
    this.#threads = threads;
  }

  /**
   * Runs a job when a thread is free.
   * @param budget processor time that the organization may use in a minute, ms. What it uses beyond is earned again first
   * @throws SandboxUnavailableError when no thread can be started; NoTurnError when the organization has to wait
   */
  submit(job: Job, turn: Turn, budget: number): Promise<TransformResult> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new SandboxUnavailableError(ENDING));
      const now = performance.now();
      this.#accounts.seen(turn.organizationId, now);
      const waitMs = this.#accounts.waitMs(turn, budget, now);
      if (waitMs > 0) return reject(new NoTurnError(OVER_BUDGET, waitMs));
      this.#queue.add({ job, turn, budget, resolve, reject });
      this.#dispatch();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#queue.refuse(() => new SandboxUnavailableError(ENDING));
    const ending = [...this.#slots];
    for (const slot of ending) this.#end(slot, new Error('the process is ending'));
    await Promise.all(ending.map((slot) => slot.worker.terminate()));
  }

  #dispatch(): void {
    while (!this.#closed) {
      const waiting = this.#queue.next((turn) => this.#mayRun(turn));
      if (!waiting) return;
      const slot = this.#idleSlot(waiting.job.transform.key);
      if (slot) {
        this.#queue.take(waiting);
        this.#begin(slot, waiting);
      } else {
        const starting = [...this.#slots].filter((each) => each.state === 'starting').length;
        if (this.#slots.size >= this.#threads || starting >= this.#queue.size) return;
        this.#slots.add(this.#start());
      }
    }
  }

  #mayRun({ organizationId, group }: Turn): boolean {
    if (this.#suspects.has(group) && this.#isLastFree((turn) => this.#suspects.has(turn.group))) return false;
    const leavesOne = this.#accounts.leavesOne(organizationId, performance.now());
    return !leavesOne || !this.#isLastFree((turn) => turn.organizationId === organizationId);
  }

  /** Whether these jobs would take the last thread with one more. */
  #isLastFree(isOne: (turn: Turn) => boolean): boolean {
    const running = [...this.#slots].filter((slot) => slot.waiting && isOne(slot.waiting.turn));
    return running.length >= Math.max(1, this.#threads - 1);
  }

  #idleSlot(key: string | null): Slot | undefined {
    const idle = [...this.#slots].filter((slot) => slot.state === 'idle');
    return idle.find((slot) => key !== null && slot.knows.has(key)) ?? idle[0];
  }

  #begin(slot: Slot, waiting: Budgeted): void {
    slot.state = 'busy';
    slot.waiting = waiting;
    slot.started = false;
    slot.worker.ref();
    slot.timer = setTimeout(() => this.#end(slot), START_DEADLINE_MS);
    const { transform, event } = waiting.job;
    if (transform.key !== null) remember(slot.knows, transform.key);
    // The bytes are copied once and handed over: a Buffer may be a view of a much larger allocation.
    const body = event && new Uint8Array(event.body);
    const handedOver = body ? [body.buffer as ArrayBuffer] : [];
    slot.worker.postMessage({ transform, event: event && { ...event, body } }, handedOver);
  }

  #start(): Slot {
    // No setting and no secret of this process is in the thread's environment.
    const worker = new Worker(new URL('./sandbox-thread.ts', import.meta.url), {
      env: {},
      resourceLimits: RESOURCE_LIMITS,
    });
    const slot: Slot = { worker, state: 'starting', waiting: null, started: false, knows: new Set() };
    slot.timer = setTimeout(() => this.#end(slot), START_DEADLINE_MS);
    worker.on('message', (message: ThreadMessage) => this.#heard(slot, message));
    worker.on('error', (error: Error) => this.#end(slot, error));
    worker.on('exit', () => this.#end(slot));
    return slot;
  }

  #heard(slot: Slot, message: ThreadMessage): void {
    if (!this.#slots.has(slot)) return;
    endWaits(slot);
    const { waiting } = slot;
    if (message.type === 'started') {
      slot.started = true;
      slot.unwatch = endInTime(slot.worker, CODE_DEADLINE, message.cpuMs, () => this.#end(slot));
      return;
    }
    slot.state = 'idle';
    slot.waiting = null;
    slot.worker.unref();
    if (message.type === 'done' && waiting) this.#charge(waiting, message.cpuMs);
    if (message.type === 'done' && waiting) this.#settle(waiting, message.result);
    this.#dispatch();
  }

  /**
   * Charges an organization for a job. By CPU time, which does not grow with the load that others make. What it has waiting when
   * its budget is used up must come back later.
   */
  #charge({ turn: { organizationId }, budget }: Budgeted, cpuMs: number): void {
    const now = performance.now();
    if (!this.#accounts.charge(organizationId, cpuMs, budget, now)) return;
    this.#queue.refuse(
      (turn) => new NoTurnError(OVER_BUDGET, this.#accounts.waitMs(turn, budget, now)),
      organizationId,
    );
  }

  #settle({ turn: { group }, resolve }: Waiting, result: TransformResult): void {
    if (result.ok) this.#suspects.delete(group);
    else if (['time', 'memory'].includes(result.problem.reason)) remember(this.#suspects, group);
    resolve(result);
  }

  /**
   * Ends a thread that overran its deadline or died. Failure policy: while the transform's own code was running that is
   * the transform's failure; before, it is our own and nothing is said about the transform. Only an event can fill the
   * memory of a thread, also while it is read, and would do so again.
   */
  #end(slot: Slot, error?: Error): void {
    if (!this.#slots.delete(slot)) return;
    endWaits(slot);
    void slot.worker.terminate();
    const { waiting } = slot;
    if (waiting && slot.started) this.#charge(waiting, LIMITS.terminateMs);
    if (waiting && (slot.started || isOutOfMemory(error)) && !this.#closed) {
      this.#settle(waiting, { ok: false, problem: diedOf(error), durationMs: LIMITS.terminateMs });
    } else if (waiting) {
      waiting.reject(unavailable(error, true));
    } else if (slot.state === 'starting') {
      this.#queue.refuse(() => unavailable(error, false));
    }
    this.#dispatch();
  }
}

function endWaits(slot: Slot): void {
  clearTimeout(slot.timer);
  slot.unwatch?.();
}

function remember(names: Set<string>, name: string): void {
  if (names.size >= MAX_REMEMBERED) names.clear();
  names.add(name);
}

/** Why a thread ended while the code of a transform was running in it. */
function diedOf(error: Error | undefined): TransformProblem {
  if (!error) return problems.time;
  return isOutOfMemory(error) ? problems.memory : sandboxFailed(error.message);
}

function isOutOfMemory(error: Error | undefined): boolean {
  return error !== undefined && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** @param job whether the thread had one, and so an event that its error may quote */
function unavailable(error: Error | undefined, job: boolean): SandboxUnavailableError {
  const failed = ownWords`The sandbox for transforms failed`;
  if (!error) return new SandboxUnavailableError(openError(ownWords`${failed}: it did not answer in time`));
  const detail = `${failed}: ${error.message}`;
  return new SandboxUnavailableError({
    summary: job ? ownWords`${failed} (${named(error.name)})` : named(detail),
    detail,
  });
}

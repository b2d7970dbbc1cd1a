// The host's side of the sandbox: a few threads, started when the first transform runs, and a fair queue before them.
import { Worker } from 'node:worker_threads';
import type { Job, ThreadMessage } from './thread.ts';
import {
  LIMITS,
  problems,
  SandboxUnavailableError,
  sandboxFailed,
  type TransformProblem,
  type TransformResult,
} from './types.ts';

// What a thread needs to start, or to load a library, on a busy machine.
const START_DEADLINE_MS = 20_000;
const WAIT_DEADLINE_MS = 20_000;
const MAX_WAITING = 1000;
const MAX_WAITING_PER_GROUP = 500;
const MAX_WAITING_BYTES = 128 * 1024 * 1024;
// Beside QuickJS's own memory, which is outside of these: texts on their way in and out.
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32, stackSizeMb: 16 };

interface Waiting {
  job: Job;
  /** Whose turn it is: one group's many jobs do not hold up another's one. */
  group: string;
  bytes: number;
  resolve: (result: TransformResult) => void;
  reject: (error: Error) => void;
  timer?: NodeJS.Timeout;
}

interface Slot {
  worker: Worker;
  state: 'starting' | 'idle' | 'busy';
  waiting: Waiting | null;
  /** Whether the job's own code is running. */
  started: boolean;
  timer?: NodeJS.Timeout;
  /** Transforms it ran, so probably has warm. */
  knows: Set<string>;
}

export interface SandboxPool {
  /**
   * Runs a job when a thread is free.
   * @param group a group whose jobs hit the time or memory limit gets one thread at most until one of them ends well
   * @throws SandboxUnavailableError when too much waits already, or no thread can be started
   */
  submit(job: Job, group: string): Promise<TransformResult>;
  close(): Promise<void>;
}

/** @param threads how many run at once, 1 or more; none is started before the first job */
export function createSandboxPool(threads: number): SandboxPool {
  const slots = new Set<Slot>();
  const queues = new Map<string, Waiting[]>();
  const suspects = new Set<string>();
  let waitingCount = 0;
  let waitingBytes = 0;
  let closed = false;

  function enqueue(waiting: Waiting): void {
    const queue = queues.get(waiting.group) ?? [];
    if (
      waitingCount >= MAX_WAITING ||
      queue.length >= MAX_WAITING_PER_GROUP ||
      waitingBytes + waiting.bytes > MAX_WAITING_BYTES
    ) {
      waiting.reject(new SandboxUnavailableError('Too many transforms are waiting for their turn'));
      return;
    }
    waiting.timer = setTimeout(() => {
      remove(waiting);
      waiting.reject(new SandboxUnavailableError(`The transform did not get its turn in ${WAIT_DEADLINE_MS / 1000} s`));
    }, WAIT_DEADLINE_MS);
    queue.push(waiting);
    queues.set(waiting.group, queue);
    waitingCount += 1;
    waitingBytes += waiting.bytes;
  }

  function remove(waiting: Waiting): void {
    const queue = queues.get(waiting.group) ?? [];
    const index = queue.indexOf(waiting);
    if (index < 0) return;
    queue.splice(index, 1);
    queues.delete(waiting.group);
    // The group goes to the end of the line with what it has left.
    if (queue.length > 0) queues.set(waiting.group, queue);
    clearTimeout(waiting.timer);
    waitingCount -= 1;
    waitingBytes -= waiting.bytes;
  }

  /** The next job by turns among groups; suspects together leave at least one thread to the others. */
  function next(): Waiting | undefined {
    let suspectsRunning = 0;
    for (const slot of slots) if (slot.waiting && suspects.has(slot.waiting.group)) suspectsRunning += 1;
    const suspectsMayRun = suspectsRunning < Math.max(1, threads - 1);
    for (const [group, queue] of queues) if (suspectsMayRun || !suspects.has(group)) return queue[0];
    return undefined;
  }

  function dispatch(): void {
    for (let waiting = next(); waiting && !closed; waiting = next()) {
      const slot = idleSlot(waiting.job.transform.key);
      if (!slot) {
        const starting = [...slots].filter((each) => each.state === 'starting').length;
        if (slots.size < threads && starting < waitingCount) slots.add(start());
        else return;
        continue;
      }
      remove(waiting);
      begin(slot, waiting);
    }
  }

  function idleSlot(key: string | null): Slot | undefined {
    const idle = [...slots].filter((slot) => slot.state === 'idle');
    return idle.find((slot) => key !== null && slot.knows.has(key)) ?? idle[0];
  }

  function begin(slot: Slot, waiting: Waiting): void {
    slot.state = 'busy';
    slot.waiting = waiting;
    slot.started = false;
    slot.worker.ref();
    slot.timer = setTimeout(() => end(slot), START_DEADLINE_MS);
    const { transform, event } = waiting.job;
    if (transform.key !== null) slot.knows.add(transform.key);
    // The bytes are copied once and handed over: a Buffer may be a view of a much larger allocation.
    const body = event && new Uint8Array(event.body);
    slot.worker.postMessage(
      { transform, event: event && { ...event, body } },
      body ? [body.buffer as ArrayBuffer] : [],
    );
  }

  function start(): Slot {
    const worker = new Worker(new URL('./thread.ts', import.meta.url), {
      // No setting and no secret of this process is there to be found.
      env: {},
      resourceLimits: RESOURCE_LIMITS,
    });
    const slot: Slot = { worker, state: 'starting', waiting: null, started: false, knows: new Set() };
    slot.timer = setTimeout(() => end(slot), START_DEADLINE_MS);
    worker.on('message', (message: ThreadMessage) => heard(slot, message));
    worker.on('error', (error: Error) => end(slot, error));
    worker.on('exit', () => end(slot));
    return slot;
  }

  function heard(slot: Slot, message: ThreadMessage): void {
    if (!slots.has(slot)) return;
    clearTimeout(slot.timer);
    if (message.type === 'started') {
      slot.started = true;
      const { waiting } = slot;
      // The check waits for messages that came in while this process itself was busy.
      slot.timer = setTimeout(() => setImmediate(() => slot.waiting === waiting && end(slot)), LIMITS.terminateMs);
      return;
    }
    const { waiting } = slot;
    slot.state = 'idle';
    slot.waiting = null;
    slot.worker.unref();
    if (message.type === 'done' && waiting) settle(waiting, message.result);
    dispatch();
  }

  function settle(waiting: Waiting, result: TransformResult): void {
    if (result.ok) suspects.delete(waiting.group);
    else if (result.problem.reason === 'time' || result.problem.reason === 'memory') suspects.add(waiting.group);
    waiting.resolve(result);
  }

  /**
   * Ends a thread that overran its deadline or died. Failure policy: while the transform's own code was running that is
   * the transform's failure; before, it is our own and nothing is said about the transform.
   */
  function end(slot: Slot, error?: Error): void {
    if (!slots.delete(slot)) return;
    clearTimeout(slot.timer);
    void slot.worker.terminate();
    const { waiting } = slot;
    if (waiting && slot.started && !closed)
      settle(waiting, { ok: false, problem: diedOf(error), durationMs: LIMITS.terminateMs });
    else if (waiting) waiting.reject(unavailable(error));
    else if (slot.state === 'starting') refuseAll(unavailable(error));
    dispatch();
  }

  function refuseAll(error: Error): void {
    for (const waiting of [...queues.values()].flat()) {
      remove(waiting);
      waiting.reject(error);
    }
  }

  return {
    submit: (job, group) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new SandboxUnavailableError('The process is ending'));
        const bytes = (job.event?.body.byteLength ?? 0) + job.transform.code.length;
        enqueue({ job, group, bytes, resolve, reject });
        dispatch();
      }),
    async close() {
      closed = true;
      refuseAll(new SandboxUnavailableError('The process is ending'));
      const ending = [...slots];
      for (const slot of ending) end(slot, new Error('the process is ending'));
      await Promise.all(ending.map((slot) => slot.worker.terminate()));
    },
  };
}

/** Why a thread ended while the code of a transform was running in it. */
function diedOf(error: Error | undefined): TransformProblem {
  if (!error) return problems.time;
  if ('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') return problems.memory;
  return sandboxFailed(error.message);
}

function unavailable(error: Error | undefined): SandboxUnavailableError {
  return new SandboxUnavailableError(
    `The sandbox for transforms failed: ${error?.message ?? 'it did not answer in time'}`,
  );
}

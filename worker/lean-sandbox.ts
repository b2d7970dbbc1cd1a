// A leaner sandbox for workflow code (HOOKYARD_LEAN_SANDBOX, off by default). Temporal's SDK runs every step of a workflow with a
// time limit, for which Node starts and ends a watchdog thread each time, and captures a stack trace for every promise, for the
// call stack in the Temporal UI. Both together are about half of what a worker spends on a workflow. The price: workflow code
// that never ends is not stopped (Hookyard runs no workflow code but its own), and the call stack in the UI is empty ("Current
// Details" says what a workflow waits for).
import { fileURLToPath } from 'node:url';
import threads from 'node:worker_threads';

const PRELOAD = fileURLToPath(new URL('./lean-sandbox-thread.cjs', import.meta.url));

/**
 * Runs a function that starts workflow threads; they get the leaner sandbox.
 * @param create makes Temporal workers; threads that other code starts meanwhile are affected only in these two ways
 */
export async function withLeanSandbox<T>(create: () => Promise<T>): Promise<T> {
  const { Worker } = threads;
  threads.Worker = class extends Worker {
    constructor(file: string | URL, options: threads.WorkerOptions = {}) {
      super(file, { ...options, execArgv: [...(options.execArgv ?? process.execArgv), '--require', PRELOAD] });
    }
  };
  try {
    return await create();
  } finally {
    threads.Worker = Worker;
  }
}

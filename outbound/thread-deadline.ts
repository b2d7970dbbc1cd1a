// How long the work of a thread may take: by its processor time, which does not grow while others use the machine.
import type { Worker } from 'node:worker_threads';

// Below it a thread is not asked again.
const LEAST_WAIT_MS = 50;

/** The time that work in a thread may take, in ms. */
export interface ThreadDeadline {
  /** Processor time. */
  cpuMs: number;
  /** Time on the clock, also while others have the processor. Well above `cpuMs`. */
  wallMs: number;
}

/**
 * Ends work that has used its time.
 * @param cpuAtStart processor time of the thread when the work began, in ms
 * @param end called once, and only while the work continues
 * @returns what to call when the work has ended
 */
export function endInTime(
  worker: Worker,
  { cpuMs, wallMs }: ThreadDeadline,
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

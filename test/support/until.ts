// Waiting for a condition with a deadline: tests never sleep for a guessed time.
import { setTimeout as delay } from 'node:timers/promises';

// A look costs time of the processor, which what is waited for needs, too: who has waited for long looks less often,
// and is late by an eighth of the wait at most.
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;
const PART_OF_WAIT = 1 / 8;

/**
 * Waits until `look` gives something other than undefined, null or false, and returns that. An assertion that throws
 * inside `look` counts as not yet.
 * @param what is waited for, for the message
 * @param deadlineMs how long at most; it costs nothing where all is well, so it suits a slow machine
 * @throws Error naming what did not come, with the last error of `look` as its cause
 */
export async function until<T>(
  what: string,
  look: () => Promise<T> | T,
  deadlineMs = 60_000,
): Promise<Exclude<T, undefined | null | false>> {
  const began = performance.now();
  for (;;) {
    let cause: unknown;
    try {
      const found = await look();
      if (found !== undefined && found !== null && found !== false) {
        return found as Exclude<T, undefined | null | false>;
      }
    } catch (error) {
      cause = error;
    }
    const waitedMs = performance.now() - began;
    if (waitedMs > deadlineMs) {
      const detail = cause instanceof Error ? `: ${cause.message}` : '';
      throw new Error(`${what}: not within ${deadlineMs / 1000} s${detail}`, { cause });
    }
    await delay(Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, waitedMs * PART_OF_WAIT)));
  }
}

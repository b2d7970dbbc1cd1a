// Waiting for a condition with a deadline: tests never sleep for a guessed time.
import { setTimeout as delay } from 'node:timers/promises';

const LOOK_AGAIN_MS = 50;

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
  const giveUpAt = performance.now() + deadlineMs;
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
    if (performance.now() > giveUpAt) {
      const detail = cause instanceof Error ? `: ${cause.message}` : '';
      throw new Error(`${what}: not within ${deadlineMs / 1000} s${detail}`, { cause });
    }
    await delay(LOOK_AGAIN_MS);
  }
}

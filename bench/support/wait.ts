// Waiting in benches: for a while, or for a condition with a deadline.
import { setTimeout as delay } from 'node:timers/promises';

export { delay };

const LOOK_AGAIN_MS = 50;

/**
 * Waits until `look` gives something other than undefined or false, and returns that.
 * @throws Error naming what did not come
 */
export async function waitFor<T>(
  what: string,
  look: () => Promise<T> | T,
  deadlineMs: number,
): Promise<Exclude<T, undefined | false>> {
  const giveUpAt = performance.now() + deadlineMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found as Exclude<T, undefined | false>;
    if (performance.now() > giveUpAt) throw new Error(`${what}: not within ${deadlineMs / 1000} s`);
    await delay(LOOK_AGAIN_MS);
  }
}

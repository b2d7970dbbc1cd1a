// Waiting for a condition, always with a deadline.
import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** Asks until the answer, which it returns, is something other than `undefined`, or the deadline has passed. */
export async function waitFor<T>(ask: () => Promise<T | undefined>, deadlineMs: number, everyMs = 50) {
  const until = performance.now() + deadlineMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() >= until) return undefined;
    await delay(everyMs);
  }
}

export function settlesWithin(promise: Promise<unknown>, deadlineMs: number): Promise<boolean> {
  const yes = () => true;
  return Promise.race([promise.then(yes, yes), delay(deadlineMs, false, { ref: false })]);
}

export function isWell(url: string, deadlineMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, signal: AbortSignal.timeout(deadlineMs) }, (answer) => {
      answer.resume();
      const { statusCode = 0 } = answer;
      resolve(statusCode >= 200 && statusCode < 300);
    });
    request.on('error', () => resolve(false));
  });
}

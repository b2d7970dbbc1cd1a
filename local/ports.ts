// Ports of the embedded stack, all on loopback, and waiting until something is up.
import { get } from 'node:http';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { StartupError } from './errors.ts';

// Below the ranges from which Linux (32768) and macOS (49152) take the local ports of outgoing connections: a port
// chosen there could be taken by any connection between choosing and listening.
const lowest = 15_000;
const highest = 32_000;

export function isFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

export async function freePorts(count: number): Promise<number[]> {
  const chosen = new Set<number>();
  for (let tries = 0; chosen.size < count; tries++) {
    if (tries > 1_000) throw new StartupError('No free port was found between 15000 and 32000 on 127.0.0.1');
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (!chosen.has(port) && (await isFree(port))) chosen.add(port);
  }
  return [...chosen];
}

/** @param wanted 0 chooses a free one @param variable named in the error @throws StartupError when it is taken */
export async function claimPort(wanted: number, variable: string, what: string, host?: string): Promise<number> {
  if (wanted === 0) return (await freePorts(1))[0] ?? 0;
  if (await isFree(wanted, host)) return wanted;
  throw new StartupError(
    `Port ${wanted}, required for ${what}, is in use by another program; stop it, or set ${variable} to another port (0 chooses a free one)`,
  );
}

// Waiting for a condition, always with a deadline.

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

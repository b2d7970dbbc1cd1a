// Keeps an embedded server running: a server that exits is restarted. After several failed restarts in a row (a full disk, a
// damaged file) Hookyard exits with the reason, so that its supervisor can report it.
import { setTimeout as delay } from 'node:timers/promises';
import { type Log, oneLine, seconds } from './errors.ts';

const tries = 3;
const betweenTriesMs = 1_000;
const steadyAfterMs = 60_000;

export interface Server {
  /** Settles when the process that runs now ends. */
  readonly exited: Promise<unknown>;
  start(): Promise<void>;
}

/**
 * Watches a server until `stopping` is aborted.
 * @returns `undefined` when stopping, else why the server cannot be kept up
 */
export async function keepUp(
  name: string,
  server: Server,
  stopping: AbortSignal,
  log: Log,
): Promise<string | undefined> {
  let failures = 0;
  for (;;) {
    const began = performance.now();
    await Promise.race([server.exited, aborted(stopping)]);
    if (stopping.aborted) return undefined;
    if (performance.now() - began > steadyAfterMs) failures = 0;
    failures += 1;
    let reason = 'it ended right after each start';
    if (failures <= tries) {
      log(`${name} ended unexpectedly; starting it again`);
      reason = await startAgain(name, server, log);
      if (reason === '') continue;
    }
    if (failures >= tries) return `${name} cannot be kept running: ${reason}`;
    log(`${name} did not start (${reason}); trying again in ${seconds(betweenTriesMs)}`);
    await delay(betweenTriesMs, undefined, { signal: stopping }).catch(() => {});
  }
}

/** Empty text when it runs again, else why not. */
async function startAgain(name: string, server: Server, log: Log): Promise<string> {
  const began = performance.now();
  try {
    await server.start();
    log(`${name} runs again (${seconds(performance.now() - began)})`);
    return '';
  } catch (error) {
    return oneLine(error);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

// Requests to end the process: SIGINT (Ctrl-C), SIGTERM, SIGHUP (the terminal was closed), or the loss of the parent
// process.
import { flushCompileCache } from 'node:module';

// One Ctrl-C or one `kill` may arrive twice: from the terminal and from the process above.
const SAME_REQUEST_MS = 500;

/** @param end called once for each request, with the reason and how many there have been, this one included */
export function onEndRequest(end: (reason: string, count: number) => void): void {
  let count = 0;
  let last = Number.NEGATIVE_INFINITY;
  const request = (reason: string) => {
    const now = performance.now();
    const isNew = now - last > SAME_REQUEST_MS;
    last = now;
    if (!isNew) return;
    count += 1;
    end(reason, count);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => request(signal));
  onLostParent(() => request('the parent process no longer exists'));
}

/**
 * Ends the process at once when the one that started it is gone: for the time in which it starts and cannot end in
 * order yet. Signals end it by themselves then.
 * @returns to be called when it can end in order
 */
export function endWithParent(): () => void {
  let isStarting = true;
  onLostParent(() => {
    if (isStarting) process.exit(1);
  });
  return () => {
    isStarting = false;
  };
}

function onLostParent(then: () => void): void {
  // The channel to it may be closed already: there was one, so there is a way to send.
  if (process.send !== undefined && !process.connected) return void setImmediate(then);
  if (!process.connected) return;
  process.once('disconnect', then);
  // Listening for the parent's end must not keep this process alive.
  process.channel?.unref();
}

/**
 * Says that this process serves, to the one that started it if that listens (local/role.ts).
 * @param url where it serves, if it listens
 */
export function sayReady(url?: string): void {
  // What it has compiled, for the next start: now, because a process that is killed writes nothing at its end.
  flushCompileCache();
  process.send?.({ type: 'ready', url });
}

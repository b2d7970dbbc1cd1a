// Requests to end the process: SIGINT (Ctrl-C), SIGTERM, SIGHUP (the terminal was closed), or the loss of the parent process.

// One Ctrl-C or one `kill` may arrive twice: from the terminal and from the process above.
const SAME_REQUEST_MS = 500;

/**
 * Calls `end` once for each request to end.
 * @param end gets the reason and how many requests there have been, this one included
 */
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
  if (process.connected) {
    process.once('disconnect', () => request('the process that started this one is gone'));
    process.channel?.unref(); // listening for the parent's end must not keep us alive
  }
}

// When to end: SIGINT (Ctrl-C), SIGTERM, SIGHUP (the terminal was closed), or the loss of the parent that started us.

/**
 * Calls `end` once for each request to end.
 * @param end gets the reason and how many requests there have been, this one included
 */
export function onEndRequest(end: (reason: string, count: number) => void): void {
  let count = 0;
  const request = (reason: string) => {
    count += 1;
    end(reason, count);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => request(signal));
  if (process.connected) {
    process.once('disconnect', () => request('the process that started this one is gone'));
    process.channel?.unref(); // listening for the parent's end must not keep us alive
  }
}

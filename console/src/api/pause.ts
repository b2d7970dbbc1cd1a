/** Waits, ms, or until the signal ends the wait. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  // What is late goes on at once: a hidden tab has a timer a second.
  if (ms <= 0) return Promise.resolve();
  const end = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  return new Promise((resolve) => {
    if (end.aborted) resolve();
    end.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Waits, ms, or until the signal ends the wait. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  const end = AbortSignal.any([signal, AbortSignal.timeout(Math.max(0, ms))]);
  return new Promise((resolve) => {
    if (end.aborted) resolve();
    end.addEventListener('abort', () => resolve(), { once: true });
  });
}

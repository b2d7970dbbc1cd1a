// Looks for work in the database, again and again: the loop that notifications and replays share.

export interface Watch {
  /** Stops looking; resolves when the look under way has ended. */
  stop(): Promise<void>;
}

/**
 * Calls `look` until it is stopped, with a rest in between.
 * @param look says whether there is more to do at once
 * @param onError hears of a look that failed; the next one comes after the rest
 */
export function watch(
  look: () => Promise<boolean>,
  { everyMs, onError }: { everyMs: number; onError: (error: unknown) => void },
): Watch {
  const stopping = new AbortController();
  const { signal } = stopping;
  async function run(): Promise<void> {
    while (!signal.aborted) {
      const more = await look().catch((error: unknown) => {
        onError(error);
        return false;
      });
      if (!more) await rest(everyMs, signal);
    }
  }
  const ended = run();
  return {
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}

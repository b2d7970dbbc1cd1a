// Looks for work in the database, again and again: the loop of everything that claims what is due.
import { PollLoop } from '../core/poll-loop.ts';

export interface Watch {
  /** Stops looking; resolves when the look under way has ended. */
  stop(): Promise<void>;
}

/**
 * Calls `look` until it is stopped, with a rest in between.
 * @param look says whether there is more to do at once
 * @param onError called with the error of a look that failed; the next one comes after the rest
 */
export function watch(
  look: () => Promise<boolean>,
  { everyMs, onError }: { everyMs: number; onError: (error: unknown) => void },
): Watch {
  const rest = { ms: everyMs };
  return new PollLoop({
    round: async () => ((await look()) ? { ms: 0 } : rest),
    onError(error) {
      onError(error);
      return rest;
    },
  });
}

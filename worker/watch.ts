// Polls the database for due work: the loop of everything that claims.
import { PollLoop } from '../core/poll-loop.ts';

export interface Watch {
  /** Stops polling; resolves when the current poll has ended. */
  stop(): Promise<void>;
}

/**
 * Calls `look` repeatedly until stopped, with a rest in between.
 * @param look returns whether more is due now
 * @param onError called with the error of a failed poll; the next one follows after the rest
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

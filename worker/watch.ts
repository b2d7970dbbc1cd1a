// Polls the database for due work: the loop of everything that claims.
import { PollLoop } from '../core/poll-loop.ts';

export interface Watch {
  /** Stops polling; resolves when the current poll has ended. */
  stop(): Promise<void>;
}

// So many workers look each at its own pace, and more of them as often together.
const AT_OWN_PACE = 4;
// As a multiple. When nearly all workers die at once, due work waits for so long at most.
const LONGEST = 5;

/**
 * How long a worker rests between looks for work that any of them may do.
 * @param everyMs of a worker that is alone
 * @param workers that are alive
 * @returns ms
 */
export const sharedRest = (everyMs: number, workers: number): number =>
  everyMs * Math.min(LONGEST, Math.max(1, workers / AT_OWN_PACE));

/**
 * Calls `look` repeatedly until stopped, with a rest in between.
 * @param look returns whether more is due now
 * @param onError called with the error of a failed poll; the next one follows after the rest
 */
export function watch(
  look: () => Promise<boolean>,
  { everyMs, onError }: { everyMs: number | (() => number); onError: (error: unknown) => void },
): Watch {
  const rest = () => ({ ms: typeof everyMs === 'number' ? everyMs : everyMs() });
  return new PollLoop({
    round: async () => ((await look()) ? { ms: 0 } : rest()),
    onError(error) {
      onError(error);
      return rest();
    },
  });
}

// Polls something whose cost grows with its size: each poll is followed by a rest of nineteen times its duration, so it takes a
// twentieth of a core. But one that took long because the machine or PostgreSQL was busy must not leave ingest with old figures for
// minutes.
import { PollLoop } from '../../core/process/poll-loop.ts';

const EVERY_MS = 1000;
const REST = 19;
const LONGEST_REST_MS = 10_000;

/**
 * @param look must never reject
 * @param idleMs how long to rest at least, however little a poll costs, ms; 0 while it is needed
 */
export function adaptivePoll(look: () => Promise<void>, idleMs: () => number = () => 0): PollLoop {
  return new PollLoop({
    async round() {
      const startedAt = performance.now();
      await look();
      return { ms: Math.max(restAfter(performance.now() - startedAt), idleMs()) };
    },
    onError: () => ({ ms: EVERY_MS }),
  });
}

/** ms. @param tookMs duration of the poll */
const restAfter = (tookMs: number): number => Math.min(Math.max(EVERY_MS, tookMs * REST), LONGEST_REST_MS);

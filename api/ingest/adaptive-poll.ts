// Polls something whose cost grows with its size: after an interval, or earlier on request, but limited to a small part of a
// core.
import { PollLoop, type Rest } from '../../core/poll-loop.ts';

const EVERY_MS = 1000;
// Each poll is followed by a rest of this many times its duration: at most a twentieth of a core, or a fifth when hurried.
const REST = 19;
const SHORT_REST = 4;
const SHORTEST_REST_MS = 50;

export interface AdaptivePoll {
  /** Moves the next poll forward, as far as the minimum rest allows. Does nothing during a poll. */
  hurry(): void;
  /** Stops polling; resolves when no poll is running. */
  close(): Promise<void>;
}

/** Polls once, then repeatedly. @param look must never reject @returns after the first poll */
export async function startAdaptivePoll(look: () => Promise<void>): Promise<AdaptivePoll> {
  const first = Promise.withResolvers<void>();
  const loop = new PollLoop({
    async round() {
      const startedAt = performance.now();
      await look();
      first.resolve();
      return restAfter(performance.now() - startedAt);
    },
    onError(error) {
      first.reject(error);
      return { ms: EVERY_MS };
    },
  });
  await first.promise;
  return {
    hurry() {
      // Requests for a poll are based on the last result; the running poll may find something else.
      if (loop.isResting) loop.nudge();
    },
    close: () => loop.stop(),
  };
}

function restAfter(tookMs: number): Rest {
  return { ms: Math.max(EVERY_MS, tookMs * REST), nudgedMs: Math.max(SHORTEST_REST_MS, tookMs * SHORT_REST) };
}

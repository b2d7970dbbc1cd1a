// Polls something that costs more the more there is of it: after a while, sooner when asked to, and never so often that polling
// takes a large part of a core.
import { PollLoop, type Rest } from '../../core/poll-loop.ts';

const EVERY_MS = 1000;
// A look is followed by a rest of this many times as long as it took: a twentieth of a core at most, and a fifth when hurried.
const REST = 19;
const SHORT_REST = 4;
const SHORTEST_REST_MS = 50;

export interface AdaptivePoll {
  /** Brings the next look forward, as far as its rest allows. Does nothing while a look is under way. */
  hurry(): void;
  /** Ends it; resolves when no look is under way. */
  close(): Promise<void>;
}

/** Looks once, then again and again. @param look never rejects @returns after the first look */
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
      // What asks for a look goes by what the last one found; the one under way may find something else.
      if (loop.isResting) loop.nudge();
    },
    close: () => loop.stop(),
  };
}

function restAfter(tookMs: number): Rest {
  return { ms: Math.max(EVERY_MS, tookMs * REST), nudgedMs: Math.max(SHORTEST_REST_MS, tookMs * SHORT_REST) };
}

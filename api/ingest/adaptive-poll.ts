// Polls something whose cost grows with its size: after an interval, or earlier on request, but limited to a small part of a
// core.
import { PollLoop, type Rest } from '../../core/poll-loop.ts';

const EVERY_MS = 1000;
// Each poll is followed by a rest of this many times its duration: at most a twentieth of a core, or a fifth when hurried. But one
// that took long because the machine or PostgreSQL was busy must not leave ingest with old figures for minutes.
const REST = 19;
const SHORT_REST = 4;
const SHORTEST_REST_MS = 50;
const LONGEST_REST_MS = 10_000;
const LONGEST_SHORT_REST_MS = 2000;

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

/** @param tookMs duration of the poll */
export function restAfter(tookMs: number): Required<Rest> {
  return {
    ms: between(EVERY_MS, tookMs * REST, LONGEST_REST_MS),
    nudgedMs: between(SHORTEST_REST_MS, tookMs * SHORT_REST, LONGEST_SHORT_REST_MS),
  };
}

const between = (least: number, value: number, most: number): number => Math.min(Math.max(least, value), most);

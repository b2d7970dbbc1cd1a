// Response times of destinations, as measured by this process. They decide whether a first attempt may be a local activity, or
// made by the relay itself.
import { LRUCache } from 'lru-cache';

/** A destination counts as quick below this moving average, ms. */
const QUICK_BELOW_MS = 1000;
// Weight of the latest attempt in the moving average: a destination that turns slow is noticed after a few attempts.
const WEIGHT = 0.3;
const MAX_DESTINATIONS = 10_000;

export interface Latencies {
  observe(destinationId: string, latencyMs: number): void;
  /** False for a destination that has not been seen yet. */
  isQuick(destinationId: string): boolean;
  /** False for a destination that has not been seen yet. */
  isSlow(destinationId: string): boolean;
}

/** @param maxDestinations how many are remembered; the least recently used is dropped first */
export function createLatencies(maxDestinations: number = MAX_DESTINATIONS): Latencies {
  const averages = new LRUCache<string, number>({ max: maxDestinations });
  return {
    observe(destinationId, latencyMs) {
      const known = averages.get(destinationId);
      averages.set(destinationId, known === undefined ? latencyMs : known + WEIGHT * (latencyMs - known));
    },
    isQuick(destinationId) {
      return (averages.get(destinationId) ?? Number.POSITIVE_INFINITY) < QUICK_BELOW_MS;
    },
    isSlow(destinationId) {
      return (averages.get(destinationId) ?? 0) >= QUICK_BELOW_MS;
    },
  };
}

// Classes of latencies for percentiles over millions of attempts: exact below 128 ms, then 64 classes per doubling,
// so a percentile is at most 1.6 % above the true value.

const EXACT_BELOW = 128;
const CLASSES_PER_DOUBLING = 64;

/**
 * The upper edge of the class a latency falls into.
 * @param latency ms
 * @returns ms, at least `latency` and at most 1.6 % above it
 */
export function latencyClass(latency: number): number {
  if (latency < EXACT_BELOW) return Math.max(0, Math.round(latency));
  const width = 2 ** Math.floor(Math.log2(latency)) / CLASSES_PER_DOUBLING;
  return Math.ceil(Math.ceil(latency / width) * width);
}

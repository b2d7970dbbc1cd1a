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

export type ClassCount = readonly number[];

/**
 * Percentiles by nearest rank: the smallest class that at least so many percent of all attempts do not exceed.
 * @param counts in any order; a class may come several times
 * @param percents whole numbers, in their order
 * @returns how many attempts there are, and the latency (ms) of each percentile; null without attempts
 */
export function percentilesOf(
  counts: readonly ClassCount[],
  percents: readonly number[],
): { attempts: number; latencies: (number | null)[] } {
  const byClass = new Map<number, number>();
  let attempts = 0;
  for (const [latency = 0, count = 0] of counts) {
    byClass.set(latency, (byClass.get(latency) ?? 0) + count);
    attempts += count;
  }
  const classes = [...byClass].sort(([one], [other]) => one - other);
  let [at, upTo] = [0, classes[0]?.[1] ?? 0];
  const latencies = percents.map((percent) => {
    const rank = Math.ceil((percent * attempts) / 100);
    while (upTo < rank && at + 1 < classes.length) {
      at += 1;
      upTo += classes[at]?.[1] ?? 0;
    }
    return attempts === 0 ? null : (classes[at]?.[0] ?? null);
  });
  return { attempts, latencies };
}

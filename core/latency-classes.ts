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

/**
 * Percentiles by nearest rank: the smallest class that at least so many percent of all attempts do not exceed.
 * @param histograms of parts of the attempts: a class, its attempts, the next class, and so on, the smallest first
 * @param percents whole numbers, in their order
 * @returns how many attempts there are, and the latency (ms) of each percentile; null without attempts
 */
export function percentilesOf(
  histograms: (readonly number[])[],
  percents: readonly number[],
): { attempts: number; latencies: (number | null)[] } {
  const [first = []] = histograms;
  const classes = histograms.length > 1 ? addedUp(histograms) : first;
  let attempts = 0;
  for (let i = 1; i < classes.length; i += 2) attempts += classes[i] ?? 0;
  let [at, upTo] = [0, classes[1] ?? 0];
  const latencies = percents.map((percent) => {
    const rank = Math.ceil((percent * attempts) / 100);
    while (upTo < rank && at + 2 < classes.length) {
      at += 2;
      upTo += classes[at + 1] ?? 0;
    }
    return attempts === 0 ? null : (classes[at] ?? null);
  });
  return { attempts, latencies };
}

function addedUp(histograms: (readonly number[])[]): number[] {
  const byClass = new Map<number, number>();
  for (const histogram of histograms) {
    for (let i = 0; i < histogram.length; i += 2) {
      const latency = histogram[i] ?? 0;
      byClass.set(latency, (byClass.get(latency) ?? 0) + (histogram[i + 1] ?? 0));
    }
  }
  return [...byClass].sort(([one], [other]) => one - other).flat();
}

// When the bench itself stood still, which makes what it reads look late: on a machine that is busy, or that shares its cores
// with other machines, a process may not run for a tenth of a second.
const TICK_MS = 5;

export interface Stalls {
  /** The longest time that it stood still within a range, ms; `from` and `to` are ms since 1970. */
  longest(from: number, to: number): number;
  stop(): void;
}

/** Watches from now on. */
export function watchStalls(): Stalls {
  const ends: { at: number; ms: number }[] = [];
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const ms = now - last - TICK_MS;
    last = now;
    if (ms > TICK_MS) ends.push({ at: Date.now(), ms });
  }, TICK_MS);
  return {
    longest: (from, to) =>
      ends.filter(({ at, ms }) => at > from && at - ms < to).reduce((most, { ms }) => Math.max(most, ms), 0),
    stop: () => clearInterval(timer),
  };
}

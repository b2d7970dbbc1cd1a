// Numbers that follow from a seed, so that a run can be repeated: the same seed plans the same faults and fails the
// same requests.

export type Random = ReturnType<typeof createRandom>;

/**
 * mulberry32 (Tommy Ettinger): 32 bits of state, good enough to choose what to break.
 * @param seed an integer below 2^32
 */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  /** At least 0, below 1. */
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    return mixed(state);
  };
  return {
    next,
    /** At least `low`, below `high`. */
    between: (low: number, high: number) => low + next() * (high - low),
    /** @throws Error when there is nothing to pick from */
    pick<T>(from: readonly T[]): T {
      const found = from[Math.floor(next() * from.length)];
      if (found === undefined) throw new Error('there is nothing to pick from');
      return found;
    },
    shuffled<T>(from: readonly T[]): T[] {
      const keyed = from.map((item) => ({ item, key: next() }));
      return keyed.toSorted((a, b) => a.key - b.key).map(({ item }) => item);
    },
  };
}

/** A number from 0 to below 1 for these integers, always the same for the same ones. */
export function chanceOf(...integers: number[]): number {
  const state = integers.reduce((sum, integer) => (Math.imul(sum ^ integer, 0x9e3779b1) + 0x6d2b79f5) >>> 0, 0);
  return mixed(state);
}

function mixed(state: number): number {
  let bits = Math.imul(state ^ (state >>> 15), state | 1);
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
  return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
}

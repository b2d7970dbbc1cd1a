// Sums by keys in one list of numbers, as the history of figures stores them: the parts of a key, its sums, and the next key.

export class PackedSums {
  readonly #byKey = new Map<string, number[]>();
  readonly #parts: number;
  readonly #length: number;

  /** @param parts numbers that make a key @param sums numbers that are added up for each */
  constructor(parts: number, sums: number) {
    this.#parts = parts;
    this.#length = parts + sums;
  }

  /** Adds what another list has. Its length must be that of whole keys and sums. */
  add(packed: readonly number[]): void {
    for (let at = 0; at < packed.length; at += this.#length) {
      const one = packed.slice(at, at + this.#length);
      const key = one.slice(0, this.#parts).join();
      const known = this.#byKey.get(key);
      if (!known) this.#byKey.set(key, one);
      else for (let i = this.#parts; i < this.#length; i += 1) known[i] = (known[i] ?? 0) + (one[i] ?? 0);
    }
  }

  /** The list, in the order of its keys. */
  packed(): number[] {
    const byParts = (one: number[], other: number[]) => {
      const first = one.findIndex((number, index) => number !== other[index]);
      return (one[first] ?? 0) - (other[first] ?? 0);
    };
    return [...this.#byKey.values()].sort(byParts).flat();
  }
}

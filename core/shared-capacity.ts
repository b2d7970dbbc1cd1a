// A capacity in memory (bytes, connections, places) that strangers share, and that no one of them can use up.
//
// A holder may not have more than so many times what is free. So one that floods stops while there is room for others, and any
// number of floods leaves room: n of them stop at f / (n * f + 1) of the capacity each. The rule is that of the backlog
// (backlog-limit.ts).

/** What a holder may have at most, as a multiple of what is free: alone it gets factor / (factor + 1) of the capacity. */
export interface Holder {
  name: string;
  factor: number;
}

export class SharedCapacity {
  readonly #capacity: number;
  readonly #held = new Map<string, number>();
  #used = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /**
   * Takes an amount for all of the holders, or nothing.
   * @returns false when there is not so much, or one of the holders would have more than its share
   */
  take(amount: number, holders: readonly Holder[]): boolean {
    const free = this.#capacity - this.#used - amount;
    if (free < 0) return false;
    for (const { name, factor } of holders) {
      // "+ 1": the last place of a small capacity can be taken by someone who has none.
      if (this.heldBy(name) + amount > factor * (free + 1)) return false;
    }
    this.#used += amount;
    for (const { name } of holders) this.#held.set(name, this.heldBy(name) + amount);
    return true;
  }

  /** Gives back what the same holders have taken. */
  give(amount: number, holders: readonly Holder[]): void {
    this.#used -= amount;
    for (const { name } of holders) {
      const left = this.heldBy(name) - amount;
      if (left > 0) this.#held.set(name, left);
      else this.#held.delete(name);
    }
  }

  heldBy(name: string): number {
    return this.#held.get(name) ?? 0;
  }

  get used(): number {
    return this.#used;
  }
}

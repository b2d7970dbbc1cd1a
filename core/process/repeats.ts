// Counts repeats, so that what happens many times a second is written once, and after that as a number.

export interface RepeatsOptions<Item> {
  /** How long repeats of a kind are only counted, ms. */
  everyMs: number;
  /** How many kinds are told apart at a time. Those beyond are counted together, so the memory is bounded. */
  mostKinds: number;
  /** @param repeated how many came since this kind was last written; 0 for the first one */
  write: (item: Item, repeated: number) => void;
  /** By default the monotonic clock, ms. */
  now?: () => number;
}

const OTHERS = '';

interface Counted<Item> {
  /** When the kind was last written. */
  since: number;
  last: Item;
  repeated: number;
}

export class Repeats<Item> {
  readonly #options: RepeatsOptions<Item>;
  readonly #now: () => number;
  readonly #kinds = new Map<string, Counted<Item>>();

  constructor(options: RepeatsOptions<Item>) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Whether nothing is remembered. While something is, `look` has to be called now and then. */
  get isIdle(): boolean {
    return this.#kinds.size === 0;
  }

  /** Writes the first of a kind, and counts the others. @param kind not empty */
  take(kind: string, item: Item): void {
    const place = this.#kinds.has(kind) || this.#kinds.size < this.#options.mostKinds ? kind : OTHERS;
    const known = this.#kinds.get(place);
    if (known === undefined) {
      this.#kinds.set(place, { since: this.#now(), last: item, repeated: 0 });
      this.#options.write(item, 0);
      return;
    }
    known.last = item;
    known.repeated += 1;
  }

  /** Writes the last of each kind that was repeated in an interval that is over; forgets kinds that were not. */
  look(): void {
    const now = this.#now();
    for (const [kind, counted] of this.#kinds) {
      if (now - counted.since < this.#options.everyMs) continue;
      if (counted.repeated === 0) this.#kinds.delete(kind);
      else this.#write(counted, now);
    }
  }

  /** Writes what was counted until now. */
  flush(): void {
    const now = this.#now();
    for (const counted of this.#kinds.values()) if (counted.repeated > 0) this.#write(counted, now);
  }

  #write(counted: Counted<Item>, now: number): void {
    const { last, repeated } = counted;
    counted.since = now;
    counted.repeated = 0;
    this.#options.write(last, repeated);
  }
}

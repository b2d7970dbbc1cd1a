// A cache of limited weight that owners share: the owner that holds the most loses entries first, so one owner's many entries do not evict
// those of the others.

interface Entry<Value> {
  value: Value;
  weight: number;
}

interface Share<Value> {
  /** The least recently used one first. */
  entries: Map<string, Entry<Value>>;
  weight: number;
}

export class ShareCache<Value> {
  readonly #maxWeight: number;
  readonly #onEvicted: (value: Value) => void;
  /** The least recently used one first: of two that hold as much, it loses an entry. */
  readonly #shares = new Map<string, Share<Value>>();
  #weight = 0;

  /** @param onEvicted gets what had to go for others, and not what was replaced or deleted */
  constructor(maxWeight: number, onEvicted: (value: Value) => void = () => undefined) {
    this.#maxWeight = maxWeight;
    this.#onEvicted = onEvicted;
  }

  get(owner: string, key: string): Value | undefined {
    const share = this.#shares.get(owner);
    const entry = share?.entries.get(key);
    if (share === undefined || entry === undefined) return undefined;
    share.entries.delete(key);
    share.entries.set(key, entry);
    this.#use(owner, share);
    return entry.value;
  }

  set(owner: string, key: string, value: Value, weight: number): void {
    const share = this.#shares.get(owner) ?? { entries: new Map(), weight: 0 };
    this.#use(owner, share);
    this.#drop(share, key);
    share.entries.set(key, { value, weight });
    share.weight += weight;
    this.#weight += weight;
    while (this.#weight > this.#maxWeight) this.#evict();
  }

  delete(owner: string, key: string): void {
    const share = this.#shares.get(owner);
    if (share === undefined) return;
    this.#drop(share, key);
    if (share.entries.size === 0) this.#shares.delete(owner);
  }

  values(): Value[] {
    return [...this.#shares.values()].flatMap(({ entries }) => Array.from(entries.values(), ({ value }) => value));
  }

  clear(): void {
    this.#shares.clear();
    this.#weight = 0;
  }

  #use(owner: string, share: Share<Value>): void {
    this.#shares.delete(owner);
    this.#shares.set(owner, share);
  }

  #evict(): void {
    let heaviest: [string, Share<Value>] | undefined;
    for (const each of this.#shares) if (heaviest === undefined || each[1].weight > heaviest[1].weight) heaviest = each;
    if (heaviest === undefined) return;
    const [owner, share] = heaviest;
    const [oldest] = share.entries;
    if (oldest === undefined) return;
    this.delete(owner, oldest[0]);
    this.#onEvicted(oldest[1].value);
  }

  #drop(share: Share<Value>, key: string): void {
    const entry = share.entries.get(key);
    if (entry === undefined) return;
    share.entries.delete(key);
    share.weight -= entry.weight;
    this.#weight -= entry.weight;
  }
}

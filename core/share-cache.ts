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
  readonly #shares = new Map<string, Share<Value>>();
  #weight = 0;

  constructor(maxWeight: number) {
    this.#maxWeight = maxWeight;
  }

  get(owner: string, key: string): Value | undefined {
    const entries = this.#shares.get(owner)?.entries;
    const entry = entries?.get(key);
    if (entries === undefined || entry === undefined) return undefined;
    entries.delete(key);
    entries.set(key, entry);
    return entry.value;
  }

  set(owner: string, key: string, value: Value, weight: number): void {
    const share = this.#shares.get(owner) ?? { entries: new Map(), weight: 0 };
    this.#shares.set(owner, share);
    this.#drop(share, key);
    share.entries.set(key, { value, weight });
    share.weight += weight;
    this.#weight += weight;
    while (this.#weight > this.#maxWeight) this.#evict();
  }

  #evict(): void {
    let heaviest: [string, Share<Value>] | undefined;
    for (const each of this.#shares) if (heaviest === undefined || each[1].weight > heaviest[1].weight) heaviest = each;
    if (heaviest === undefined) return;
    const [owner, share] = heaviest;
    const [oldest] = share.entries.keys();
    if (oldest !== undefined) this.#drop(share, oldest);
    if (share.entries.size === 0) this.#shares.delete(owner);
  }

  #drop(share: Share<Value>, key: string): void {
    const entry = share.entries.get(key);
    if (entry === undefined) return;
    share.entries.delete(key);
    share.weight -= entry.weight;
    this.#weight -= entry.weight;
  }
}

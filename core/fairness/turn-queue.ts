// A queue whose owners take turns: the first of each, then the second of each, and so on. In order of arrival for one owner. A queue of its
// own, because ingest puts every webhook through it: no bounds, timers or conditions, and both ends in constant time.

export interface Queued {
  owner: string;
  weight: number;
}

/** What is queued of an owner. */
interface Own {
  size: number;
  weight: number;
}

const NONE: Own = { size: 0, weight: 0 };

export class TurnQueue<Entry extends Queued> {
  /** In the order of their turns; none is empty. `from`: where its first entry is. */
  readonly #owners = new Map<string, Own & { entries: Entry[]; from: number }>();
  #size = 0;
  #weight = 0;

  get size(): number {
    return this.#size;
  }

  get weight(): number {
    return this.#weight;
  }

  of(owner: string): Own {
    return this.#owners.get(owner) ?? NONE;
  }

  push(entry: Entry): void {
    const own = this.#owners.get(entry.owner);
    if (own) {
      own.entries.push(entry);
      own.size += 1;
      own.weight += entry.weight;
    } else this.#owners.set(entry.owner, { entries: [entry], from: 0, size: 1, weight: entry.weight });
    this.#size += 1;
    this.#weight += entry.weight;
  }

  first(): Entry | undefined {
    const [own] = this.#owners.values();
    return own?.entries[own.from];
  }

  /** Removes the first one; it is the next owner's turn. */
  shift(): void {
    const [next] = this.#owners;
    if (!next) return;
    const [owner, own] = next;
    const weight = own.entries[own.from]?.weight ?? 0;
    own.from += 1;
    own.size -= 1;
    own.weight -= weight;
    this.#size -= 1;
    this.#weight -= weight;
    // What was removed is let go of in pieces, which take no longer than its removal.
    if (own.from >= own.size) {
      own.entries = own.entries.slice(own.from);
      own.from = 0;
    }
    if (own.size > 0 && this.#owners.size === 1) return;
    this.#owners.delete(owner);
    if (own.size > 0) this.#owners.set(owner, own);
  }
}

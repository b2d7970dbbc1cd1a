// What this process has accepted (deliveries, or bytes of the database) and the last count may not include: what is being stored, and what
// was stored since the count began. So however much arrives during one count, nobody gets more than its share. What is stored while a
// count runs may be in both until the next count.

/** Room for something that is being stored. */
export interface Reservation {
  /** It was stored. */
  keep(): void;
  /** It was not. @param asksAgain whether it is about to reserve again, which must not cost it twice */
  release(asksAgain: boolean): void;
}

export class Reservations {
  readonly #storing = new Map<string, number>();
  #stored = new Map<string, number>();
  /** Stored before the count that is running began. */
  #beingCounted = new Map<string, number>();
  #total = 0;

  /** Of all organizations. */
  get total(): number {
    return this.#total;
  }

  of(organizationId: string): number {
    const of = (counts: Map<string, number>) => counts.get(organizationId) ?? 0;
    return of(this.#storing) + of(this.#stored) + of(this.#beingCounted);
  }

  add(organizationId: string, count: number): Reservation {
    this.#total += count;
    change(this.#storing, organizationId, count);
    return {
      keep: () => {
        change(this.#storing, organizationId, -count);
        change(this.#stored, organizationId, count);
      },
      release: () => {
        change(this.#storing, organizationId, -count);
        this.#total -= count;
      },
    };
  }

  countBegins(): void {
    this.#beingCounted = this.#stored;
    this.#stored = new Map();
  }

  /** @param counted whether there is a new count, which has what was stored before it began */
  countEnds(counted: boolean): void {
    for (const [id, count] of this.#beingCounted) {
      if (counted) this.#total -= count;
      else change(this.#stored, id, count);
    }
    this.#beingCounted = new Map();
  }
}

function change(counts: Map<string, number>, id: string, by: number): void {
  const count = (counts.get(id) ?? 0) + by;
  if (count > 0) counts.set(id, count);
  else counts.delete(id);
}

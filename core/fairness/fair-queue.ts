// A limited thing (connections, threads, bytes, slots) that organizations share. An organization may hold three times
// what it leaves free, so one that takes all it can leaves a quarter, and any number of them leaves something for the
// next. Those that wait take turns by organization. Nothing here depends on how many organizations there are. (A. K.
// Choudhury, E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998.)

const TIMES_FREE = 3;

/**
 * The rule. One that holds nothing may take whatever is free.
 * @param own what the organization holds
 * @param left what would be free afterwards, of all
 */
export const mayHold = (own: number, amount: number, left: number, timesFree: number = TIMES_FREE): boolean =>
  left >= 0 && (own === 0 || own + amount <= timesFree * left);

/** Gives back what was taken. To be called once. */
export type Leave = () => void;

export interface WaitOptions {
  /** How much is taken; 1 by default. */
  amount?: number;
  waitMs: number;
}

interface Waiter {
  amount: number;
  admit: () => void;
  refuse: () => void;
}

export class FairQueue {
  readonly #limit: number;
  readonly #timesFree: number;
  readonly #own = new Map<string, number>();
  #held = 0;
  /** In the order of their turns; none is empty. */
  readonly #waiting = new Map<string, Waiter[]>();
  #isClosed = false;

  /** @param timesFree what an organization may hold, as a multiple of what it leaves free */
  constructor(limit: number, timesFree: number = TIMES_FREE) {
    this.#limit = limit;
    this.#timesFree = timesFree;
  }

  get held(): number {
    return this.#held;
  }

  get isFull(): boolean {
    return this.#held >= this.#limit;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0);
  }

  get holders(): string[] {
    return [...this.#own.keys()];
  }

  heldBy(organizationId: string): number {
    return this.#own.get(organizationId) ?? 0;
  }

  /** How many more an organization may take now, one after the other, if the others take nothing. */
  roomFor(organizationId: string): number {
    const own = this.heldBy(organizationId);
    const free = this.#limit - this.#held;
    const share = Math.floor((this.#timesFree * free - own) / (this.#timesFree + 1));
    return Math.max(own === 0 && free >= 1 ? 1 : 0, share);
  }

  /**
   * Takes an amount at once, or nothing. An amount above the limit is taken when nobody holds anything, so that none
   * waits for ever.
   */
  hold(organizationId: string, amount = 1): boolean {
    const own = this.heldBy(organizationId);
    const left = this.#limit - this.#held - amount;
    if (this.#held > 0 && !mayHold(own, amount, left, this.#timesFree)) return false;
    this.#add(organizationId, amount);
    return true;
  }

  /** Takes an amount whatever is free: for work that is limited elsewhere, or is allowed already. */
  enter(organizationId: string, amount = 1): Leave {
    this.#add(organizationId, amount);
    return () => this.release(organizationId, amount);
  }

  release(organizationId: string, amount = 1): void {
    const own = this.heldBy(organizationId) - amount;
    if (own > 0) this.#own.set(organizationId, own);
    else this.#own.delete(organizationId);
    this.#held -= amount;
    if (this.#waiting.size > 0) this.#admit();
  }

  /** As `hold`. @returns how to give it back; null: the organization has to wait */
  takeNow(organizationId: string): Leave | null {
    return this.hold(organizationId) ? () => this.release(organizationId) : null;
  }

  close(): void {
    this.#isClosed = true;
    for (const waiters of [...this.#waiting.values()]) for (const { refuse } of waiters) refuse();
  }

  /**
   * Takes an amount as soon as it is free and the organization's turn has come.
   * @returns null: not in time, or the queue is closed
   */
  take(organizationId: string, { amount = 1, waitMs }: WaitOptions): Promise<Leave | null> {
    const leave = () => this.release(organizationId, amount);
    if (this.#waiting.size === 0 && this.hold(organizationId, amount)) return Promise.resolve(leave);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        amount,
        admit() {
          clearTimeout(timer);
          resolve(leave);
        },
        refuse: () => {
          clearTimeout(timer);
          this.#remove(organizationId, waiter);
          resolve(null);
          this.#admit();
        },
      };
      const timer = setTimeout(waiter.refuse, waitMs);
      const waiting = this.#waiting.get(organizationId);
      if (waiting) waiting.push(waiter);
      else this.#waiting.set(organizationId, [waiter]);
      this.#admit();
    });
  }

  #add(organizationId: string, amount: number): void {
    this.#own.set(organizationId, this.heldBy(organizationId) + amount);
    this.#held += amount;
  }

  #admit(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      const [organizationId, waiter] = next;
      this.#remove(organizationId, waiter);
      // Its next one comes after the others.
      const rest = this.#waiting.get(organizationId);
      this.#waiting.delete(organizationId);
      if (rest) this.#waiting.set(organizationId, rest);
      waiter.admit();
    }
  }

  /**
   * The next one that may go, and has taken its amount. One that exceeds its share waits apart; for one that holds
   * nothing, room is made.
   */
  #next(): [string, Waiter] | undefined {
    for (const [organizationId, [first]] of this.#waiting) {
      if (first === undefined) continue;
      if (this.hold(organizationId, first.amount)) return [organizationId, first];
      if (!this.#own.has(organizationId)) return undefined;
    }
    return undefined;
  }

  #remove(organizationId: string, waiter: Waiter): void {
    const rest = (this.#waiting.get(organizationId) ?? []).filter((each) => each !== waiter);
    if (rest.length > 0) this.#waiting.set(organizationId, rest);
    else this.#waiting.delete(organizationId);
  }
}

// Places that are waited for: organizations share them (fair-share.ts), and those that wait take turns by organization. A queue of its own,
// because what waits is a caller, with a deadline and without a bound of its own; the other queues hold work.
import { type Leave, Places } from './places.ts';

interface Waiter {
  admit: (leave: Leave) => void;
  refuse: () => void;
}

export class FairQueue {
  readonly #places: Places;
  readonly #limit: number;
  #taken = 0;
  /** In the order of their turns. */
  readonly #waiting = new Map<string, Waiter[]>();
  #isClosed = false;

  constructor(limit: number, alone: () => boolean) {
    this.#limit = limit;
    this.#places = new Places(limit, alone);
  }

  get isFull(): boolean {
    return this.#taken >= this.#limit;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** How many wait. */
  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** @returns how to give the place back @throws what `onTimeout` makes when none is free in time, or the queue is closed */
  take(organizationId: string, { waitMs, onTimeout }: { waitMs: number; onTimeout: () => Error }): Promise<Leave> {
    const leave = this.takeNow(organizationId);
    if (leave !== null) return Promise.resolve(leave);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        admit(admitted) {
          clearTimeout(timer);
          resolve(admitted);
        },
        refuse: () => {
          clearTimeout(timer);
          this.#remove(organizationId, waiter);
          reject(onTimeout());
        },
      };
      const timer = setTimeout(waiter.refuse, waitMs);
      const waiting = this.#waiting.get(organizationId);
      if (waiting) waiting.push(waiter);
      else this.#waiting.set(organizationId, [waiter]);
    });
  }

  /** @returns how to give the place back; null: the organization has to wait */
  takeNow(organizationId: string): Leave | null {
    if (this.isFull) return null;
    const leave = this.#places.take(organizationId);
    if (leave === null) return null;
    this.#taken += 1;
    return () => {
      this.#taken -= 1;
      leave();
      this.#admitNext();
    };
  }

  /** Nothing waits any longer. */
  close(): void {
    this.#isClosed = true;
    for (const waiters of [...this.#waiting.values()]) for (const { refuse } of waiters) refuse();
  }

  #admitNext(): void {
    for (const [organizationId, [first]] of [...this.#waiting]) {
      const leave = first && this.takeNow(organizationId);
      if (!leave) continue;
      this.#remove(organizationId, first);
      // Its next one comes after the others.
      const rest = this.#waiting.get(organizationId);
      this.#waiting.delete(organizationId);
      if (rest) this.#waiting.set(organizationId, rest);
      first.admit(leave);
    }
  }

  #remove(organizationId: string, waiter: Waiter): void {
    const rest = (this.#waiting.get(organizationId) ?? []).filter((each) => each !== waiter);
    if (rest.length > 0) this.#waiting.set(organizationId, rest);
    else this.#waiting.delete(organizationId);
  }
}

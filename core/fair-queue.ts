// Places that are waited for: organizations share them (fair-share.ts), and those that wait take turns by organization. A queue of its own,
// because what waits is a caller, with a deadline and without a bound of its own; the other queues hold work.
import { type Leave, Places } from './places.ts';

interface Waiter {
  admit: (leave: Leave) => void;
}

export class FairQueue {
  readonly #places: Places;
  readonly #limit: number;
  #taken = 0;
  /** In the order of their turns. */
  readonly #waiting = new Map<string, Waiter[]>();

  constructor(limit: number, alone: () => boolean) {
    this.#limit = limit;
    this.#places = new Places(limit, alone);
  }

  /** @returns how to give the place back @throws what `onTimeout` makes when none is free in time */
  take(organizationId: string, { waitMs, onTimeout }: { waitMs: number; onTimeout: () => Error }): Promise<Leave> {
    const leave = this.#take(organizationId);
    if (leave !== null) return Promise.resolve(leave);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#remove(organizationId, waiter);
        reject(onTimeout());
      }, waitMs);
      const waiter: Waiter = {
        admit(admitted) {
          clearTimeout(timer);
          resolve(admitted);
        },
      };
      const waiting = this.#waiting.get(organizationId);
      if (waiting) waiting.push(waiter);
      else this.#waiting.set(organizationId, [waiter]);
    });
  }

  #take(organizationId: string): Leave | null {
    if (this.#taken >= this.#limit) return null;
    const leave = this.#places.take(organizationId);
    if (leave === null) return null;
    this.#taken += 1;
    return () => {
      this.#taken -= 1;
      leave();
      this.#admitNext();
    };
  }

  #admitNext(): void {
    for (const [organizationId, [first]] of [...this.#waiting]) {
      const leave = first && this.#take(organizationId);
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

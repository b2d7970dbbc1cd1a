// The places for one kind of work in a process, shared by organizations (fair-share.ts). Nothing waits here: who gets none comes back, as
// activities do by a retry of Temporal, or waits in fair-queue.ts.
import { leftFor } from './fair-share.ts';

/** Gives a place back. To be called once. */
export type Leave = () => void;

export class Places {
  readonly #limit: number;
  readonly #alone: () => boolean;
  readonly #own = new Map<string, number>();
  #taken = 0;

  /** @param alone whether there is only one organization, for which all places are */
  constructor(limit: number, alone: () => boolean) {
    this.#limit = limit;
    this.#alone = alone;
  }

  /** Takes a place, if the organization has its share not yet. @returns null: later */
  take(organizationId: string): Leave | null {
    const shared = { limit: this.#limit, taken: this.#taken, alone: this.#alone() };
    return leftFor(shared, this.#own.get(organizationId) ?? 0) > 0 ? this.enter(organizationId) : null;
  }

  /** Takes a place, if the organization has less than this part of all of them, whatever is free. @returns null: later */
  takeUpTo(part: number, organizationId: string): Leave | null {
    const own = this.#own.get(organizationId) ?? 0;
    return this.#alone() || own < part * this.#limit ? this.enter(organizationId) : null;
  }

  /** Takes a place for work that is limited elsewhere. */
  enter(organizationId: string): Leave {
    this.#change(organizationId, 1);
    return () => this.#change(organizationId, -1);
  }

  #change(organizationId: string, by: number): void {
    const own = (this.#own.get(organizationId) ?? 0) + by;
    if (own > 0) this.#own.set(organizationId, own);
    else this.#own.delete(organizationId);
    this.#taken += by;
  }
}

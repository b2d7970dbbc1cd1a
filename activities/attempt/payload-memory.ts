// Limits the memory of the large payloads of all attempts of a process, from before a payload is loaded until its attempt has ended.
// Without it, as many as may be in flight could be held at a time, each of the maximum size, and the process would be killed with all
// attempts of all organizations. What organizations share, and how: core/shared-capacity.ts.
import { type Holder, SharedCapacity } from '../../core/shared-capacity.ts';
import type { Leave } from '../../core/places.ts';

// As much as is left free: one organization stops at half, and any number of them leaves room for the next.
const FACTOR = 1;

interface Waiter {
  bytes: number;
  go: (leave: Leave) => void;
}

export class PayloadMemory {
  readonly #limit: number;
  readonly #waitMs: number;
  readonly #alone: () => boolean;
  readonly #capacity: SharedCapacity;
  /** By organization, in the order of their turns; none is empty. */
  readonly #waiting = new Map<string, Waiter[]>();

  /**
   * @param limit bytes
   * @param waitMs how long one waits for room
   * @param alone whether there is only one organization, for which all of it is
   */
  constructor(limit: number, waitMs: number, alone: () => boolean) {
    this.#limit = limit;
    this.#waitMs = waitMs;
    this.#alone = alone;
    this.#capacity = new SharedCapacity(limit);
  }

  /** Bytes that are taken. */
  get used(): number {
    return this.#capacity.used;
  }

  /** Takes room, or waits for it behind others of the organization. @returns null: there was none in time */
  async take(organizationId: string, bytes: number): Promise<Leave | null> {
    const others = this.#waiting.get(organizationId);
    const atOnce = others ? null : this.#takeNow(organizationId, bytes);
    if (atOnce) return atOnce;
    const turn = Promise.withResolvers<Leave | null>();
    const waiter: Waiter = { bytes, go: turn.resolve };
    if (others) others.push(waiter);
    else this.#waiting.set(organizationId, [waiter]);
    const timer = setTimeout(() => {
      this.#remove(organizationId, waiter);
      turn.resolve(null);
      // A smaller one may have waited behind it.
      this.#letIn();
    }, this.#waitMs);
    return turn.promise.finally(() => clearTimeout(timer));
  }

  #takeNow(organizationId: string, bytes: number): Leave | null {
    const share: Holder[] = this.#alone() ? [] : [{ name: organizationId, factor: FACTOR }];
    const amount = Math.min(bytes, this.#limit);
    if (this.#capacity.take(amount, share)) return this.#leaving(amount, share);
    // One that is larger than any share goes alone.
    if (this.#capacity.used === 0 && this.#capacity.take(amount, [])) return this.#leaving(amount, []);
    return null;
  }

  #leaving(amount: number, share: Holder[]): Leave {
    return () => {
      this.#capacity.give(amount, share);
      this.#letIn();
    };
  }

  /** Lets in all that have room now, one of each organization at a time. */
  #letIn(): void {
    let wasLetIn = true;
    while (wasLetIn) {
      wasLetIn = false;
      for (const [organizationId, [first]] of [...this.#waiting]) {
        const leave = first ? this.#takeNow(organizationId, first.bytes) : null;
        if (!first || !leave) continue;
        wasLetIn = true;
        this.#remove(organizationId, first);
        this.#toTheEnd(organizationId);
        first.go(leave);
      }
    }
  }

  #remove(organizationId: string, waiter: Waiter): void {
    const left = this.#waiting.get(organizationId)?.filter((each) => each !== waiter) ?? [];
    if (left.length > 0) this.#waiting.set(organizationId, left);
    else this.#waiting.delete(organizationId);
  }

  #toTheEnd(organizationId: string): void {
    const left = this.#waiting.get(organizationId);
    if (left && this.#waiting.delete(organizationId)) this.#waiting.set(organizationId, left);
  }
}

/** The room that one attempt has for its payload. */
export class BodyShare {
  readonly #room: PayloadMemory;
  #leave: Leave | null = null;

  constructor(room: PayloadMemory) {
    this.#room = room;
  }

  /** Takes room, unless it has some: an attempt that starts over is about the same payload. @returns false: there was none in time */
  async take(organizationId: string, bytes: number): Promise<boolean> {
    this.#leave ??= await this.#room.take(organizationId, bytes);
    return this.#leave !== null;
  }

  /** Gives the room back, if there is some. */
  leave(): void {
    this.#leave?.();
    this.#leave = null;
  }
}

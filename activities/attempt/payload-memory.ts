// Limits the memory of the large payloads of all attempts of a process, from before a payload is loaded until its attempt has ended.
// Without it, as many as may be in flight could be held at a time, each of the maximum size, and the process would be killed with all
// attempts of all organizations. What organizations share, and how: core/fairness/fair-queue.ts.
import { FairQueue, type Leave } from '../../core/fairness/fair-queue.ts';

// As much as is left free: one organization stops at half, and any number of them leaves room for the next.
const TIMES_FREE = 1;

export class PayloadMemory {
  readonly #limit: number;
  readonly #waitMs: number;
  readonly #queue: FairQueue;

  /**
   * @param limit bytes
   * @param waitMs how long one waits for room
   */
  constructor(limit: number, waitMs: number) {
    this.#limit = limit;
    this.#waitMs = waitMs;
    this.#queue = new FairQueue(limit, TIMES_FREE);
  }

  /** Bytes that are taken. */
  get used(): number {
    return this.#queue.held;
  }

  /** Takes room, or waits for it behind others of the organization. @returns null: there was none in time */
  take(organizationId: string, bytes: number): Promise<Leave | null> {
    const noRoom = new Error('no room for the payload');
    return this.#queue
      .take(organizationId, {
        // One that is larger than all takes all.
        amount: Math.min(bytes, this.#limit),
        waitMs: this.#waitMs,
        onTimeout: () => noRoom,
      })
      .catch((error: unknown) => {
        if (error === noRoom) return null;
        throw error;
      });
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

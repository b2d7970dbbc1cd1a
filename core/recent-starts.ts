// How promptly workflows that this process starts begin their first attempts. From the start to that moment, everything that a
// workflow needs before it sends has been used: Temporal, its database, workflow tasks and the processor. The destination has not:
// a slow one says nothing about the workers.
import type { StartSample } from './lane-pressure.ts';

// Rates and shares follow a change this quickly. The window moves in steps of a slot.
const WINDOW_MS = 2000;
const SLOT_MS = 100;
const SLOTS = WINDOW_MS / SLOT_MS;
const RATE_SLOTS = 1000 / SLOT_MS;
// A start is late when its attempt begins after this time, and after several times the shortest that was seen lately: a Temporal
// that is far away is not a busy one.
const LATE_MS = 50;
const LATE_FACTOR = 3;
const SHORTEST_KEPT_MS = 60_000;
// A slot is late when at least this part of what began in it was.
const LATE_PART = 1 / 20;
// A workflow that has not begun by now is stuck, which says nothing about the workers either.
const FORGOTTEN_MS = 10_000;

interface Slot {
  /** Number of the slot since the beginning of the clock. */
  number: number;
  due: number;
  begun: number;
  late: number;
}

export class RecentStarts {
  /** By delivery, the oldest first: when its start was asked for. */
  readonly #waiting = new Map<string, number>();
  readonly #slots: Slot[] = Array.from({ length: SLOTS }, () => ({ number: -1, due: 0, begun: 0, late: 0 }));
  // The shortest time from start to attempt in this part of a minute and in the one before, ms.
  #shortest = Number.POSITIVE_INFINITY;
  #shortestBefore = Number.POSITIVE_INFINITY;
  #shortestSince = Number.NEGATIVE_INFINITY;

  /** A first attempt is due that a workflow may make. @param nowMs of a monotonic clock, here and below */
  due(nowMs: number): void {
    this.#slot(nowMs).due += 1;
  }

  /** The start of its workflow is asked for. */
  started(deliveryId: string, nowMs: number): void {
    this.#forgetStuck(nowMs);
    // A start that is repeated is the latest one.
    this.#waiting.delete(deliveryId);
    this.#waiting.set(deliveryId, nowMs);
  }

  /** Its first attempt begins in this process or was asked for here, or its workflow was started for another one. */
  begun(deliveryId: string, nowMs: number): void {
    const startedAt = this.#waiting.get(deliveryId);
    if (startedAt === undefined) return;
    this.#waiting.delete(deliveryId);
    const tookMs = nowMs - startedAt;
    this.#noteShortest(tookMs, nowMs);
    const slot = this.#slot(nowMs);
    slot.begun += 1;
    if (tookMs > this.#lateMs) slot.late += 1;
  }

  /** It was not started. */
  forget(deliveryId: string): void {
    this.#waiting.delete(deliveryId);
  }

  /** What was late before says nothing about what is started from now on. */
  forgive(): void {
    for (const slot of this.#slots) Object.assign(slot, { begun: 0, late: 0 });
  }

  sample(nowMs: number): StartSample {
    const current = Math.floor(nowMs / SLOT_MS);
    const sum = (pick: (slot: Slot) => number, slots: number) =>
      this.#slots.reduce((total, slot) => total + (slot.number > current - slots ? pick(slot) : 0), 0);
    const waitingLate = this.#waitingLate(nowMs);
    const isLate = ({ begun, late }: Slot) => late > 0 && late >= begun * LATE_PART;
    return {
      atMs: nowMs,
      duePerSecond: sum(({ due }) => due, RATE_SLOTS),
      begunPerSecond: sum(({ begun }) => begun, RATE_SLOTS),
      waiting: this.#waiting.size,
      recent: sum(({ begun }) => begun, SLOTS) + waitingLate,
      late: sum(({ late }) => late, SLOTS) + waitingLate,
      lateTenths: sum((slot) => Number(isLate(slot)), SLOTS),
    };
  }

  /** How many have not begun although they are late already. */
  #waitingLate(nowMs: number): number {
    this.#forgetStuck(nowMs);
    let count = 0;
    for (const startedAt of this.#waiting.values()) {
      if (nowMs - startedAt <= this.#lateMs) break;
      count += 1;
    }
    return count;
  }

  #forgetStuck(nowMs: number): void {
    for (const [deliveryId, startedAt] of this.#waiting) {
      if (nowMs - startedAt <= FORGOTTEN_MS) break;
      this.#waiting.delete(deliveryId);
    }
  }

  get #lateMs(): number {
    return Math.max(LATE_MS, LATE_FACTOR * this.#shortestMs);
  }

  /** 0 when nothing has begun yet. */
  get #shortestMs(): number {
    const shortest = Math.min(this.#shortest, this.#shortestBefore);
    return Number.isFinite(shortest) ? shortest : 0;
  }

  #noteShortest(tookMs: number, nowMs: number): void {
    if (nowMs - this.#shortestSince > SHORTEST_KEPT_MS / 2) {
      this.#shortestBefore = this.#shortest;
      this.#shortest = tookMs;
      this.#shortestSince = nowMs;
    } else this.#shortest = Math.min(this.#shortest, tookMs);
  }

  #slot(nowMs: number): Slot {
    const number = Math.floor(nowMs / SLOT_MS);
    const slot = this.#slots[number % SLOTS] as Slot;
    if (slot.number !== number) Object.assign(slot, { number, due: 0, begun: 0, late: 0 });
    return slot;
  }
}

// What the relay has started and whose first result is not recorded yet: the closed loop that keeps starts within slots.
//
// A destination may have half as many unanswered as places are free, and no more than its own limit. What it has answered
// and is being recorded takes a place of the total only: a quick destination would else wait for commits. So destinations that
// do not answer leave room for others, however many they are: the more places are taken, the fewer each may take, and
// the last ones go to those that have none. With a fixed limit alone, total / perDestination of them would stop all
// others. (A. K. Choudhury, E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998.)
import type { OutboxRow } from '../db/hot-path/claim.ts';

interface Entry {
  row: OutboxRow;
  startedAt: number;
  /** Whether its destination has answered: it counts no more there. */
  answered: boolean;
  /** When to ask again whether it is still in the outbox, ms of the clock. */
  checkAt: number;
}

// A result that is recorded in this process removes its entry at once. Entries that stay are started elsewhere (another
// worker took the workflow) or stuck, so they are looked up after a while.
const FIRST_CHECK_MS = 5000;
const CHECK_AGAIN_MS = 30_000;
// A delivery that takes longer than this waits for its destination; what the relay does makes no difference to it.
const BRISK_MS = 1000;

export class InFlight {
  readonly #entries = new Map<string, Entry>();
  readonly #perDestination = new Map<string, number>();
  readonly #limits: { total: number; perDestination: number };
  readonly #now: () => number;

  /** @param now a clock in ms that never goes back */
  constructor(limits: { total: number; perDestination: number }, now = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  get size(): number {
    return this.#entries.size;
  }

  get free(): number {
    return this.#limits.total - this.#entries.size;
  }

  /** How many one destination may have unanswered at the moment. */
  get perDestination(): number {
    return Math.min(this.#limits.perDestination, Math.ceil(this.free / 2));
  }

  /** How many were started a short while ago: what comes and goes, without what waits for a slow destination. */
  get brisk(): number {
    const since = this.#now() - BRISK_MS;
    let count = 0;
    for (const entry of this.#entries.values()) if (entry.startedAt > since) count += 1;
    return count;
  }

  /** Room for one more of this destination. */
  hasRoom(destinationId: string): boolean {
    return (this.#perDestination.get(destinationId) ?? 0) < this.perDestination;
  }

  /** Destinations that have as much unanswered as they may. */
  fullDestinations(): string[] {
    const most = this.perDestination;
    const full: string[] = [];
    for (const [id, count] of this.#perDestination) if (count >= most) full.push(id);
    return full;
  }

  deliveryIds(): string[] {
    return [...this.#entries.keys()];
  }

  add(row: OutboxRow): void {
    if (this.#entries.has(row.deliveryId)) return;
    const now = this.#now();
    this.#entries.set(row.deliveryId, { row, startedAt: now, answered: false, checkAt: now + FIRST_CHECK_MS });
    this.#perDestination.set(row.destinationId, (this.#perDestination.get(row.destinationId) ?? 0) + 1);
  }

  /** Its destination has answered, or will not. */
  answered(deliveryId: string): void {
    const entry = this.#entries.get(deliveryId);
    if (!entry || entry.answered) return;
    entry.answered = true;
    const left = (this.#perDestination.get(entry.row.destinationId) ?? 1) - 1;
    if (left > 0) this.#perDestination.set(entry.row.destinationId, left);
    else this.#perDestination.delete(entry.row.destinationId);
  }

  delete(deliveryId: string): boolean {
    this.answered(deliveryId);
    return this.#entries.delete(deliveryId);
  }

  /** Entries that are due for a look; each is due again after a while. */
  takeOverdue(): OutboxRow[] {
    const now = this.#now();
    const due: OutboxRow[] = [];
    for (const entry of this.#entries.values()) {
      if (entry.checkAt > now) continue;
      entry.checkAt = now + CHECK_AGAIN_MS;
      due.push(entry.row);
    }
    return due;
  }
}

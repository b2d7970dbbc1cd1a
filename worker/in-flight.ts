// What the relay has started and whose first result is not recorded yet: the closed loop that keeps starts within slots.
import type { OutboxRow } from '../db/hot-path/claim.ts';

interface Entry {
  row: OutboxRow;
  /** When to ask again whether it is still in the outbox, `performance.now()` ms. */
  checkAt: number;
}

// A result that is recorded in this process removes its entry at once. Entries that stay are started elsewhere (another
// worker took the workflow) or stuck, so they are looked up after a while.
const FIRST_CHECK_MS = 5000;
const CHECK_AGAIN_MS = 30_000;

export class InFlight {
  readonly #entries = new Map<string, Entry>();
  readonly #perDestination = new Map<string, number>();
  readonly #limits: { total: number; perDestination: number };

  constructor(limits: { total: number; perDestination: number }) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  get free(): number {
    return this.#limits.total - this.#entries.size;
  }

  /** Room for one more of this destination and in total. */
  hasRoom(destinationId: string): boolean {
    return this.free > 0 && (this.#perDestination.get(destinationId) ?? 0) < this.#limits.perDestination;
  }

  /** Destinations that have as much in flight as they may. */
  fullDestinations(): string[] {
    const full: string[] = [];
    for (const [id, count] of this.#perDestination) if (count >= this.#limits.perDestination) full.push(id);
    return full;
  }

  deliveryIds(): string[] {
    return [...this.#entries.keys()];
  }

  add(row: OutboxRow): void {
    if (this.#entries.has(row.deliveryId)) return;
    this.#entries.set(row.deliveryId, { row, checkAt: performance.now() + FIRST_CHECK_MS });
    this.#perDestination.set(row.destinationId, (this.#perDestination.get(row.destinationId) ?? 0) + 1);
  }

  delete(deliveryId: string): boolean {
    const entry = this.#entries.get(deliveryId);
    if (!entry) return false;
    this.#entries.delete(deliveryId);
    const left = (this.#perDestination.get(entry.row.destinationId) ?? 1) - 1;
    if (left > 0) this.#perDestination.set(entry.row.destinationId, left);
    else this.#perDestination.delete(entry.row.destinationId);
    return true;
  }

  /** Entries that are due for a look; each is due again after a while. */
  takeOverdue(): OutboxRow[] {
    const now = performance.now();
    const due: OutboxRow[] = [];
    for (const entry of this.#entries.values()) {
      if (entry.checkAt > now) continue;
      entry.checkAt = now + CHECK_AGAIN_MS;
      due.push(entry.row);
    }
    return due;
  }
}

// What the relay has started and whose first result is not recorded yet: the closed loop that keeps starts within slots.
//
// A destination may have half as many unanswered as places are free, and no more than its own limit. What it has answered
// and is being recorded takes a place of the total: a quick destination would else wait for commits. With that, it has no more
// than twice its limit under way, which is what a relay that is killed may have sent in vain. So destinations that
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
const RECENT_MS = 1000;
// What a destination has under way in all, as a multiple of what it may have unanswered.
const UNRECORDED_FACTOR = 2;

export class InFlight {
  readonly #entries = new Map<string, Entry>();
  /** Not answered, by destination. */
  readonly #perDestination = new Map<string, number>();
  /** Not recorded, whether answered or not. */
  readonly #unrecorded = new Map<string, number>();
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
  get recentlyStarted(): number {
    const since = this.#now() - RECENT_MS;
    let count = 0;
    for (const entry of this.#entries.values()) if (entry.startedAt > since) count += 1;
    return count;
  }

  /** Room for one more of this destination. */
  hasRoom(destinationId: string): boolean {
    return (this.#perDestination.get(destinationId) ?? 0) < this.perDestination && !this.#awaitsRecords(destinationId);
  }

  /** Whether something waits for this delivery to be recorded: all places are taken, or all of its destination. */
  isAwaited(deliveryId: string): boolean {
    const entry = this.#entries.get(deliveryId);
    return entry !== undefined && (this.free <= 0 || this.#awaitsRecords(entry.row.destinationId));
  }

  #awaitsRecords(destinationId: string): boolean {
    return (this.#unrecorded.get(destinationId) ?? 0) >= UNRECORDED_FACTOR * this.#limits.perDestination;
  }

  /** Destinations that have as much unanswered or unrecorded as they may. */
  fullDestinations(): string[] {
    const most = this.perDestination;
    const full: string[] = [];
    for (const id of this.#unrecorded.keys()) {
      if ((this.#perDestination.get(id) ?? 0) >= most || this.#awaitsRecords(id)) full.push(id);
    }
    return full;
  }

  deliveryIds(): string[] {
    return [...this.#entries.keys()];
  }

  add(row: OutboxRow): void {
    if (this.#entries.has(row.deliveryId)) return;
    const now = this.#now();
    this.#entries.set(row.deliveryId, { row, startedAt: now, answered: false, checkAt: now + FIRST_CHECK_MS });
    change(this.#perDestination, row.destinationId, 1);
    change(this.#unrecorded, row.destinationId, 1);
  }

  /** Its destination has answered, or will not. */
  answered(deliveryId: string): void {
    const entry = this.#entries.get(deliveryId);
    if (!entry || entry.answered) return;
    entry.answered = true;
    change(this.#perDestination, entry.row.destinationId, -1);
  }

  delete(deliveryId: string): boolean {
    const entry = this.#entries.get(deliveryId);
    if (!entry) return false;
    this.answered(deliveryId);
    change(this.#unrecorded, entry.row.destinationId, -1);
    return this.#entries.delete(deliveryId);
  }

  deleteAll(rows: OutboxRow[]): void {
    for (const row of rows) this.delete(row.deliveryId);
  }

  /** Entries that are due for a look, and for how long they have been here, ms; each is due again after a while. */
  takeOverdue(): { row: OutboxRow; forMs: number }[] {
    const now = this.#now();
    const due: { row: OutboxRow; forMs: number }[] = [];
    for (const entry of this.#entries.values()) {
      if (entry.checkAt > now) continue;
      entry.checkAt = now + CHECK_AGAIN_MS;
      due.push({ row: entry.row, forMs: now - entry.startedAt });
    }
    return due;
  }
}

function change(counts: Map<string, number>, id: string, by: number): void {
  const count = (counts.get(id) ?? 0) + by;
  if (count > 0) counts.set(id, count);
  else counts.delete(id);
}

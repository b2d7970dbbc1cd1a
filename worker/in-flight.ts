// Deliveries that the relay has started and whose first result is not recorded yet. This feedback limits starts to the free
// slots.
//
// Organizations share the places first (core/fair-share.ts): unanswered attempts count there, and an organization with those that
// are being recorded never takes the last quarter. A destination's unanswered attempts may then not exceed half of what its
// organization may still take, nor its own limit. Answered attempts that are being recorded count only for the total, else a quick
// destination would wait for commits. With them a destination has at most twice its limit in flight; this is how many a killed
// relay may have to send again. So slow destinations leave room for others, however many there are: the more places are taken, the
// fewer each may take, and the last ones go to organizations and destinations that have none. With a fixed limit alone, total /
// perDestination slow destinations would block all others.
import { leftFor } from '../core/fair-share.ts';
import type { OutboxRow } from '../db/hot-path/claim.ts';

interface Entry {
  row: OutboxRow;
  startedAt: number;
  /** Whether its destination has answered; then it no longer counts there. */
  answered: boolean;
  /** When to check next whether it is still in the outbox, ms of the clock. */
  checkAt: number;
}

// A result that is recorded in this process removes its entry at once. Remaining entries run elsewhere (another worker took the
// workflow) or are stuck, so they are checked after a while.
const FIRST_CHECK_MS = 5000;
const CHECK_AGAIN_MS = 30_000;
// A delivery that takes longer than this waits for its destination, not for the relay.
const RECENT_MS = 1000;
// Limit of a destination in total, as a multiple of its limit of unanswered attempts.
const UNRECORDED_FACTOR = 2;
// The part of all places that one of several organizations may have, answered or not.
const MOST_OF_ALL = 3 / 4;

interface Limits {
  total: number;
  perDestination: number;
}

/** What the rules need to know of a delivery. */
type Belongings = Pick<OutboxRow, 'destinationId' | 'organizationId'>;

export class InFlight {
  readonly #entries = new Map<string, Entry>();
  /** Unanswered, by destination. */
  readonly #perDestination = new Map<string, number>();
  /** Unrecorded, answered or not. */
  readonly #unrecorded = new Map<string, number>();
  /** The same by organization. */
  readonly #perOrganization = new Map<string, number>();
  readonly #unrecordedOf = new Map<string, number>();
  readonly #limits: Limits;
  readonly #now: () => number;
  readonly #alone: () => boolean;

  /**
   * @param options.now a monotonic clock in ms
   * @param options.alone whether there is only one organization, for which all places are
   */
  constructor(limits: Limits, options: { now?: () => number; alone?: () => boolean } = {}) {
    const { now = () => performance.now(), alone = () => true } = options;
    this.#limits = limits;
    this.#now = now;
    this.#alone = alone;
  }

  get size(): number {
    return this.#entries.size;
  }

  get free(): number {
    return this.#limits.total - this.#entries.size;
  }

  /** The limit of unanswered attempts per destination, however much is free. */
  get perDestination(): number {
    return this.#limits.perDestination;
  }

  /** How many more places an organization may take; without one: an organization that has none. */
  leftFor(organizationId?: string): number {
    const { total: limit } = this.#limits;
    const alone = this.#alone();
    const count = (counts: Map<string, number>) => (organizationId && counts.get(organizationId)) || 0;
    const left = leftFor({ limit, taken: this.size, alone }, count(this.#perOrganization));
    const most = alone ? limit : Math.ceil(limit * MOST_OF_ALL);
    return Math.max(0, Math.min(Math.ceil(left), most - count(this.#unrecordedOf)));
  }

  /** Organizations with places, and how many more each may take. */
  organizations(): { id: string; left: number }[] {
    return [...this.#unrecordedOf.keys()].map((id) => ({ id, left: this.leftFor(id) }));
  }

  /** As much as is left for its organization; half of that when it is alone, because then all that is free is left for it. */
  #mostOf({ organizationId }: Belongings): number {
    const left = this.leftFor(organizationId);
    return Math.min(this.#limits.perDestination, this.#alone() ? Math.ceil(left / 2) : left);
  }

  /** How many were started recently, without those that wait for a slow destination. */
  get recentlyStarted(): number {
    const since = this.#now() - RECENT_MS;
    let count = 0;
    for (const entry of this.#entries.values()) if (entry.startedAt > since) count += 1;
    return count;
  }

  /** Whether one more of this destination may start. */
  hasRoom(row: Belongings): boolean {
    const { destinationId } = row;
    return (this.#perDestination.get(destinationId) ?? 0) < this.#mostOf(row) && !this.#awaitsRecords(destinationId);
  }

  /**
   * Whether others wait for this delivery to be recorded: all places, or all of its organization's or its destination's, are
   * taken.
   */
  isAwaited(deliveryId: string): boolean {
    const entry = this.#entries.get(deliveryId);
    if (entry === undefined) return false;
    return this.leftFor(entry.row.organizationId) === 0 || this.#awaitsRecords(entry.row.destinationId);
  }

  #awaitsRecords(destinationId: string): boolean {
    return (this.#unrecorded.get(destinationId) ?? 0) >= UNRECORDED_FACTOR * this.#limits.perDestination;
  }

  /** Destinations at their limit of unanswered or unrecorded attempts. */
  fullDestinations(): string[] {
    // Whether it is full, by destination.
    const seen = new Map<string, boolean>();
    for (const { row } of this.#entries.values()) {
      if (!seen.has(row.destinationId)) seen.set(row.destinationId, !this.hasRoom(row));
    }
    return [...seen].filter(([, isFull]) => isFull).map(([id]) => id);
  }

  deliveryIds(): string[] {
    return [...this.#entries.keys()];
  }

  add(row: OutboxRow): void {
    if (this.#entries.has(row.deliveryId)) return;
    const now = this.#now();
    this.#entries.set(row.deliveryId, { row, startedAt: now, answered: false, checkAt: now + FIRST_CHECK_MS });
    change(this.#perDestination, row.destinationId, 1);
    change(this.#perOrganization, row.organizationId, 1);
    change(this.#unrecorded, row.destinationId, 1);
    change(this.#unrecordedOf, row.organizationId, 1);
  }

  /** Its destination has answered, or never will. */
  answered(deliveryId: string): void {
    const entry = this.#entries.get(deliveryId);
    if (!entry || entry.answered) return;
    entry.answered = true;
    change(this.#perDestination, entry.row.destinationId, -1);
    change(this.#perOrganization, entry.row.organizationId, -1);
  }

  delete(deliveryId: string): boolean {
    const entry = this.#entries.get(deliveryId);
    if (!entry) return false;
    this.answered(deliveryId);
    change(this.#unrecorded, entry.row.destinationId, -1);
    change(this.#unrecordedOf, entry.row.organizationId, -1);
    return this.#entries.delete(deliveryId);
  }

  deleteAll(rows: OutboxRow[]): void {
    for (const row of rows) this.delete(row.deliveryId);
  }

  /** Entries that are due for a check, with their age in ms; each is due again after a while. */
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

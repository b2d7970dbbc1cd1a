// Deliveries that the relay has started and whose first result is not recorded yet. This feedback limits starts to the
// free slots.
//
// Organizations share the slots first, by the rule of core/fairness/fair-queue.ts: a delivery counts for its
// organization until its result is recorded, also while it waits for its organization's turn at Temporal. A
// destination's unanswered attempts may then not exceed half of what its organization may still take, nor what it copes
// with (core/delivery/destination-concurrency.ts, which retries count for too). Answered attempts that are being
// recorded do not count there, else a quick destination would wait for commits. With them a destination has at most 50
// more than its limit in flight; this is how many a killed relay may have to send again.
//
// So slow destinations leave room for others, however many there are: the more slots are taken, the fewer each may
// take, and the last ones go to organizations and destinations that have none. With a fixed limit alone, total / limit
// slow destinations would block all others. And all slow ones together get half of the slots, so that the others never
// share what they leave.
//
// What others may rely on: a row counts from `add` until `delete`; `hasRoom` before `add` keeps every limit; `answered`
// may come at any time, once or several times, or never. Nothing here waits, and nothing is written anywhere.
import type { DestinationConcurrency } from '../../core/delivery/destination-concurrency.ts';
import { shardOfOrder } from '../../core/delivery/ordering.ts';
import { FairQueue } from '../../core/fairness/fair-queue.ts';
import { shardOf } from '../../core/text/ids.ts';
import type { OutboxRow } from '../../db/hot-path/claim.ts';

interface Entry {
  row: OutboxRow;
  startedAt: number;
  /** Whether its destination has answered; then it no longer counts there. */
  answered: boolean;
  /**
   * Set when it is started as a workflow, whose attempt takes one of the slots for activities: called when that is
   * over.
   */
  endWorkflow: (() => void) | null;
  /** When to check next whether it is still in the outbox, ms of the clock. */
  checkAt: number;
}

// A result that is recorded in this process removes its entry at once. Remaining entries run elsewhere (another worker
// took the workflow) or are stuck, so they are checked after a while.
const FIRST_CHECK_MS = 5000;
// Any worker may make a retry that was signalled, and it leaves the outbox then: so these are looked for earlier, at
// times that double.
const FIRST_LOOK_MS = 300;
const CHECK_AGAIN_MS = 30_000;
// How many a destination may have in flight beyond its limit, answered and not recorded.
const MOST_UNRECORDED = 50;
// The part of all slots that slow destinations share.
const MOST_OF_SLOW = 1 / 2;
// How long the count of their slots is used, ms: each row of a claim asks for it.
const COUNTED_FOR_MS = 20;

interface Limits {
  total: number;
  workflows?: number;
  concurrency: DestinationConcurrency;
}

type Belongings = Pick<OutboxRow, 'destinationId' | 'organizationId'>;

export class InFlight {
  readonly #entries = new Map<string, Entry>();
  readonly #perDestination = new Map<string, number>();
  /** Unrecorded, answered or not. */
  readonly #unrecorded = new Map<string, number>();
  readonly #slots: FairQueue;
  readonly #workflows: FairQueue;
  readonly #limits: Limits;
  readonly #now: () => number;
  #leftOut: ReadonlySet<string> = new Set();
  #slow = { taken: 0, countedAt: Number.NEGATIVE_INFINITY };

  /** @param now a monotonic clock, ms */
  constructor(limits: Limits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#slots = new FairQueue(limits.total);
    this.#workflows = new FairQueue(limits.workflows ?? limits.total);
    this.#now = now;
  }

  get size(): number {
    return this.#entries.size;
  }

  get free(): number {
    return this.#limits.total - this.#entries.size;
  }

  /** How many more slots an organization may take; without one: an organization that has none. */
  roomFor(organizationId = ''): number {
    return this.#slots.roomFor(organizationId);
  }

  organizations(): { id: string; left: number }[] {
    return this.#slots.holders.map((id) => ({ id, left: this.roomFor(id) }));
  }

  #isSlow(destinationId: string): boolean {
    return this.#limits.concurrency.isSlow(destinationId);
  }

  /** Half of what its organization may still take: so there is room for its next destination. */
  #mostOf({ organizationId, destinationId }: Belongings): number {
    const most = Math.ceil(this.roomFor(organizationId) / 2);
    return this.#isSlow(destinationId) ? Math.min(most, this.#leftForSlow()) : most;
  }

  /** At least 1: a destination is not kept from being tried because others are slow. */
  #leftForSlow(): number {
    const now = this.#now();
    if (now - this.#slow.countedAt > COUNTED_FOR_MS) {
      let taken = 0;
      for (const [id, count] of this.#perDestination) if (this.#isSlow(id)) taken += count;
      this.#slow = { taken, countedAt: now };
    }
    return Math.max(1, Math.floor(this.#limits.total * MOST_OF_SLOW) - this.#slow.taken);
  }

  hasRoom(row: Belongings): boolean {
    const { destinationId } = row;
    if (!this.#limits.concurrency.hasRoom(destinationId) || this.#awaitsRecords(destinationId)) return false;
    return (this.#perDestination.get(destinationId) ?? 0) < this.#mostOf(row);
  }

  /**
   * Whether others wait for this delivery to be recorded: all slots, or all of its organization's or its destination's,
   * are taken.
   */
  isAwaited(deliveryId: string): boolean {
    const entry = this.#entries.get(deliveryId);
    if (entry === undefined) return false;
    return this.roomFor(entry.row.organizationId) === 0 || this.#awaitsRecords(entry.row.destinationId);
  }

  #awaitsRecords(destinationId: string): boolean {
    const most = this.#limits.concurrency.limitOf(destinationId) + MOST_UNRECORDED;
    return (this.#unrecorded.get(destinationId) ?? 0) >= most;
  }

  /** A claim leaves them out. */
  fullDestinations(): string[] {
    const seen = new Map<string, boolean>();
    for (const { row } of this.#entries.values()) {
      if (!seen.has(row.destinationId)) seen.set(row.destinationId, !this.hasRoom(row));
    }
    for (const id of this.#limits.concurrency.full()) seen.set(id, true);
    const full = [...seen].filter(([, isFull]) => isFull).map(([id]) => id);
    this.#leftOut = new Set(full);
    return full;
  }

  has(deliveryId: string): boolean {
    return this.#entries.has(deliveryId);
  }

  isOrdered(deliveryId: string): boolean {
    return (this.#entries.get(deliveryId)?.row.orderHash ?? null) !== null;
  }

  /** By the shard of each. */
  byShard(): { id: string; shard: number }[] {
    return [...this.#entries.values()].map(({ row }) => ({ id: row.deliveryId, shard: shardOfRow(row) }));
  }

  deliveryIds(): string[] {
    return [...this.#entries.keys()];
  }

  hasPermit(deliveryId: string): boolean {
    return this.#entries.get(deliveryId)?.answered === false;
  }

  /** Whether this row holds a slot; a later one of the same delivery may. */
  holds(row: OutboxRow): boolean {
    return this.#entries.get(row.deliveryId)?.row === row;
  }

  add(row: OutboxRow): void {
    if (this.#entries.has(row.deliveryId)) return;
    const now = this.#now();
    const checkAt = now + (row.resume === 'waiting' ? FIRST_LOOK_MS : FIRST_CHECK_MS);
    this.#entries.set(row.deliveryId, { row, startedAt: now, answered: false, endWorkflow: null, checkAt });
    this.#limits.concurrency.acquire(row.destinationId);
    if (this.#isSlow(row.destinationId)) this.#slow.taken += 1;
    change(this.#perDestination, row.destinationId, 1);
    change(this.#unrecorded, row.destinationId, 1);
    // `hasRoom` has allowed it, when it was claimed.
    this.#slots.enter(row.organizationId);
  }

  hasRoomForWorkflow(organizationId: string): boolean {
    return this.#workflows.roomFor(organizationId) > 0;
  }

  /** A delivery in flight becomes such a workflow; it counts as one until it is deleted. @param onEnd called then */
  startsAsWorkflow(deliveryId: string, onEnd: () => void = () => {}): void {
    const entry = this.#entries.get(deliveryId);
    if (!entry || entry.endWorkflow) return;
    const leave = this.#workflows.enter(entry.row.organizationId);
    entry.endWorkflow = () => {
      leave();
      onEnd();
    };
  }

  /**
   * Its destination has answered, or never will.
   * @returns whether the destination had no slot left before, or when the last claim began: its limit may have grown
   * since
   */
  answered(deliveryId: string): boolean {
    const entry = this.#entries.get(deliveryId);
    if (!entry || entry.answered) return false;
    const { destinationId } = entry.row;
    const wasFull = this.#leftOut.has(destinationId) || !this.#limits.concurrency.hasRoom(destinationId);
    entry.answered = true;
    this.#limits.concurrency.release(destinationId);
    change(this.#perDestination, destinationId, -1);
    return wasFull;
  }

  delete(deliveryId: string): boolean {
    const entry = this.#entries.get(deliveryId);
    if (!entry) return false;
    this.answered(deliveryId);
    entry.endWorkflow?.();
    change(this.#unrecorded, entry.row.destinationId, -1);
    this.#slots.release(entry.row.organizationId);
    return this.#entries.delete(deliveryId);
  }

  /** Not the slots of later rows of the same deliveries. */
  deleteAll(rows: OutboxRow[]): void {
    for (const row of rows) if (this.holds(row)) this.delete(row.deliveryId);
  }

  /**
   * Entries that are due for a check, with their age in ms; each is due again after a while. `isEarly`: a result is not
   * overdue yet, and only those that have left the outbox are done.
   */
  takeOverdue(): { row: OutboxRow; forMs: number; isEarly: boolean }[] {
    const now = this.#now();
    const due: { row: OutboxRow; forMs: number; isEarly: boolean }[] = [];
    for (const entry of this.#entries.values()) {
      if (entry.checkAt > now) continue;
      const forMs = now - entry.startedAt;
      const isEarly = forMs < FIRST_CHECK_MS;
      entry.checkAt = isEarly ? Math.min(now + forMs, entry.startedAt + FIRST_CHECK_MS) : now + CHECK_AGAIN_MS;
      due.push({ row: entry.row, forMs, isEarly });
    }
    return due;
  }

  /** When the next entry is due for a check, ms from now; infinite without entries. */
  get nextCheckInMs(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const { checkAt } of this.#entries.values()) first = Math.min(first, checkAt);
    return first - this.#now();
  }

  /** One that was due, and was not checked, is due again soon. */
  checkSoon(deliveryId: string): void {
    const entry = this.#entries.get(deliveryId);
    if (entry) entry.checkAt = this.#now() + FIRST_CHECK_MS;
  }
}

/** Those of an ordering key have the shard of the key (db/schema/04-outbox.sql). */
export const shardOfRow = ({ deliveryId, orderHash }: Pick<OutboxRow, 'deliveryId' | 'orderHash'>): number =>
  orderHash === null ? shardOf(deliveryId) : shardOfOrder(orderHash);

function change(counts: Map<string, number>, id: string, by: number): void {
  const count = (counts.get(id) ?? 0) + by;
  if (count > 0) counts.set(id, count);
  else counts.delete(id);
}

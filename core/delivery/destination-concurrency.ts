// The concurrency of this process at each destination: how many attempts may be under way there, and how many are.
//
// What it promises: what acquires a permit counts until it releases it, first attempts and retries alike; a lower limit
// ends nothing that is under way. A process may have as many as the destination copes with (destination-limit.ts), and
// at most its share of the destination's maximum. Where that is less than one for each worker, a worker needs a slot
// for its one attempt, and all of them together have no more slots than the maximum
// (worker/relay/destination-slots.ts).
import { LONGEST_TIMEOUT_MS } from './delivery.ts';
import { type AnswerKind, DestinationLimit, type LimitRange } from './destination-limit.ts';

// Of all workers together, at a destination that is new and at one that hangs.
const INITIAL_CONCURRENCY = 50;
const HANGING_CONCURRENCY = 4;
// An attempt that takes longer waits for a slow destination.
const LONG_MS = 1000;
// Weight of the latest attempt in the average latency: a destination that turns slow is noticed after a few attempts.
const LATENCY_WEIGHT = 0.3;
// A destination that nothing was sent to for this long starts again: what was learned is old.
const FORGOTTEN_MS = 60_000;
const MOST_REMEMBERED = 10_000;
// How long a slot is used when there are other workers, ms.
const TURN_MS = 2000;
// How long a worker then leaves it to others, which ask for it more often.
const PAUSE_MS = 500;
// After so long without an attempt there is nothing left for this turn, ms.
const IDLE_MS = 500;

/** `unrelated`: nothing that says anything of the destination's load, as when its address cannot be resolved. */
export type Outcome = AnswerKind | 'unrelated';

/** `at`: when it is asked for, or when it was taken. */
type Slot = { is: 'wanted' | 'held'; at: number };

interface Entry {
  destinationId: string;
  limit: DestinationLimit;
  /** Of the destination; null: none of its own. */
  maximum: number | null;
  taken: number;
  /** When each request that is not answered was sent, the oldest first. */
  sent: Map<number, number>;
  usedAt: number;
  /** The moving average; null: not known. */
  latencyMs: number | null;
  slot: Slot | null;
}

export class DestinationConcurrency {
  readonly #entries = new Map<string, Entry>();
  readonly #active = new Set<Entry>();
  readonly #ceiling: number;
  readonly #now: () => number;
  /** Live workers, at least 1. */
  workers = 1;
  #requests = 0;
  #lostAt = Number.NEGATIVE_INFINITY;
  /** Called when a destination begins to wait for a slot, and when one is used after a while without any. */
  onUse: () => void = () => {};

  /**
   * @param ceiling of destinations without a maximum of their own, all workers together
   * @param now a monotonic clock in ms
   */
  constructor(ceiling: number, now: () => number = () => performance.now()) {
    this.#ceiling = ceiling;
    this.#now = now;
  }

  /** How many attempts this process may have under way there: at least 1, unless it needs a slot and has none. */
  limitOf(destinationId: string): number {
    const entry = this.#entries.get(destinationId);
    return entry ? this.#limitOf(entry) : new DestinationLimit().value(this.#rangeOf(null));
  }

  /**
   * Whether one more may be claimed. Of a destination that needs a slot, one is, so that it is known that something
   * waits.
   */
  hasRoom(destinationId: string): boolean {
    const entry = this.#entries.get(destinationId);
    return entry === undefined || this.#hasRoom(entry);
  }

  full(): string[] {
    return [...this.#active].filter((entry) => !this.#hasRoom(entry)).map(({ destinationId }) => destinationId);
  }

  isOver(destinationId: string): boolean {
    return (this.#entries.get(destinationId)?.taken ?? 0) > this.limitOf(destinationId);
  }

  /** Acquires a permit, whatever the limit: for work that asked before, or is limited elsewhere. */
  acquire(destinationId: string): void {
    const entry = this.#usedEntryOf(destinationId);
    entry.taken += 1;
    if (this.#active.size === 0) this.onUse();
    this.#active.add(entry);
    this.#wantSlot(entry);
  }

  tryAcquire(destinationId: string): boolean {
    const entry = this.#usedEntryOf(destinationId);
    if (entry.taken < this.#limitOf(entry)) {
      this.acquire(destinationId);
      return true;
    }
    this.#wantSlot(entry);
    return false;
  }

  /** Releases a permit. To be called once for each. */
  release(destinationId: string): void {
    const entry = this.#entries.get(destinationId);
    if (!entry) return;
    entry.taken -= 1;
    entry.usedAt = this.#now();
    if (entry.taken === 0 && entry.slot === null) this.#active.delete(entry);
  }

  /** The maximum of a destination (`maxConcurrency`), as it is now; null: none of its own. */
  setMaximum(destinationId: string, maximum: number | null): void {
    if (maximum !== null || this.#entries.has(destinationId)) this.#entryOf(destinationId).maximum = maximum;
  }

  /** A request is being sent. @returns to be called with what came of it */
  sending(destinationId: string): (kind: Outcome) => void {
    const entry = this.#usedEntryOf(destinationId);
    const startedAt = this.#now();
    this.#requests += 1;
    const number = this.#requests;
    entry.sent.set(number, startedAt);
    const atSending = entry.sent.size;
    return (kind) => {
      const underWay = Math.max(atSending, entry.sent.size);
      entry.sent.delete(number);
      if (kind === 'unrelated') return;
      const at = this.#now();
      entry.usedAt = at;
      entry.limit.observe({ startedAt, at, underWay, kind }, this.#rangeOf(entry.maximum));
      const latencyMs = at - startedAt;
      entry.latencyMs = latencyMs * LATENCY_WEIGHT + (entry.latencyMs ?? latencyMs) * (1 - LATENCY_WEIGHT);
    };
  }

  /** False for a destination that is not known. */
  isQuick(destinationId: string): boolean {
    const latencyMs = this.#entries.get(destinationId)?.latencyMs ?? null;
    return latencyMs !== null && latencyMs < LONG_MS;
  }

  /** Whether its attempts take long, or one waits long for an answer. */
  isSlow(destinationId: string): boolean {
    const entry = this.#entries.get(destinationId);
    const [oldest] = entry?.sent.values() ?? [];
    return (entry?.latencyMs ?? 0) >= LONG_MS || (oldest !== undefined && this.#now() - oldest > LONG_MS);
  }

  /** The limits of the destinations in use, in ascending order. */
  limits(): number[] {
    const since = this.#now() - FORGOTTEN_MS;
    const used = [...this.#entries.values()].filter((entry) => entry.taken > 0 || entry.usedAt > since);
    return used.map((entry) => this.#limitOf(entry)).toSorted((a, b) => a - b);
  }

  get hasSlots(): boolean {
    return [...this.#active].some(({ slot }) => slot !== null);
  }

  /** What needs a slot now, and how many slots its destination has. */
  slotsWanted(): { destinationId: string; maximum: number }[] {
    const now = this.#now();
    // It may need one only since there are more workers.
    for (const entry of this.#active) if (entry.taken > 0) this.#wantSlot(entry);
    const isOver = now - this.#lostAt >= LONGEST_TIMEOUT_MS;
    return [...this.#active].flatMap(({ destinationId, maximum, slot, taken }) =>
      maximum !== null && slot?.is === 'wanted' && slot.at <= now && (isOver || taken > 0)
        ? [{ destinationId, maximum }]
        : [],
    );
  }

  /** @param askedAt when this worker asked for it, ms of the clock */
  slotTaken(destinationId: string, askedAt: number): void {
    const entry = this.#entries.get(destinationId);
    if (!entry) return;
    entry.slot = { is: 'held', at: askedAt };
    entry.usedAt = this.#now();
  }

  /**
   * Gives slots back, and continues with those that nobody else can want.
   * @param confirmedAt when all of them were known to be held, ms of the clock
   * @returns the destinations of those that are to be given back
   */
  leaveSlots(confirmedAt: number): string[] {
    const now = this.#now();
    const left: string[] = [];
    for (const entry of this.#active) {
      const { slot, taken, usedAt, destinationId } = entry;
      if (slot === null) continue;
      const isNeeded = this.#isShort(entry);
      if (isNeeded && slot.is === 'wanted') continue;
      if (isNeeded && this.workers === 1) slot.at = Math.max(slot.at, confirmedAt);
      const isIdle = taken === 0 && now - usedAt >= IDLE_MS;
      const isOver = taken === 0 && now - slot.at >= TURN_MS;
      if (isNeeded && !isIdle && !isOver) continue;
      if (slot.is === 'held') left.push(destinationId);
      // When its turn is over there may be more, of which nothing is known here.
      entry.slot = isNeeded && !isIdle ? { is: 'wanted', at: now + PAUSE_MS } : null;
      if (entry.slot === null && taken === 0) this.#active.delete(entry);
    }
    return left;
  }

  /**
   * All slots are gone. What is under way here asks for them again at once; all else, when what others had under way
   * has ended, because their slots may be gone as well.
   */
  slotsLost(): void {
    const now = this.#now();
    if (this.hasSlots) this.#lostAt = now;
    for (const entry of this.#active) if (entry.slot?.is === 'held') entry.slot = { is: 'wanted', at: now };
  }

  #wantSlot(entry: Entry): void {
    if (entry.slot !== null || !this.#isShort(entry)) return;
    entry.slot = { is: 'wanted', at: this.#now() };
    this.#active.add(entry);
    this.onUse();
  }

  #hasRoom(entry: Entry): boolean {
    return entry.taken < this.#limitOf(entry) || (entry.taken === 0 && entry.slot === null && this.#isShort(entry));
  }

  #limitOf(entry: Entry): number {
    if (!this.#isShort(entry)) return entry.limit.value(this.#rangeOf(entry.maximum));
    return entry.slot?.is === 'held' && this.#now() - entry.slot.at < TURN_MS ? 1 : 0;
  }

  /**
   * Whether there is less than one slot for each worker. A slot is shared by any number of workers, and there may be a
   * new one.
   */
  #isShort({ maximum }: Entry): boolean {
    return maximum !== null && (maximum === 1 || maximum < this.workers);
  }

  #rangeOf(maximum: number | null): LimitRange {
    const shareOf = (slots: number) => Math.max(1, Math.floor(slots / this.workers));
    return {
      initial: shareOf(INITIAL_CONCURRENCY),
      hanging: shareOf(HANGING_CONCURRENCY),
      ceiling: shareOf(maximum ?? this.#ceiling),
    };
  }

  #usedEntryOf(destinationId: string): Entry {
    const entry = this.#entryOf(destinationId);
    const now = this.#now();
    if (entry.taken === 0 && now - entry.usedAt > FORGOTTEN_MS) entry.limit = new DestinationLimit();
    entry.usedAt = now;
    this.#entries.delete(destinationId);
    this.#entries.set(destinationId, entry);
    return entry;
  }

  #entryOf(destinationId: string): Entry {
    const known = this.#entries.get(destinationId);
    if (known) return known;
    const limit = new DestinationLimit();
    const entry: Entry = {
      ...{ destinationId, limit, maximum: null, taken: 0, sent: new Map(), usedAt: this.#now() },
      ...{ latencyMs: null, slot: null },
    };
    this.#entries.set(destinationId, entry);
    for (const [id, other] of this.#entries) {
      if (this.#entries.size <= MOST_REMEMBERED) break;
      if (other !== entry && !this.#active.has(other) && other.sent.size === 0) this.#entries.delete(id);
    }
    return entry;
  }
}

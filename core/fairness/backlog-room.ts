// What may be added to the backlog and to the database, as one process knows it: the last count, and what this process
// has let in since. Webhooks (api/ingest/backlog.ts) and replays (activities/replay.ts) ask it, and cost no statement
// more. Organizations share both by the rule of fair-queue.ts; the destinations of one share what it may still take, so
// a single stuck destination leaves its organization room for others.
import { mayHold } from './fair-queue.ts';
import type { Limits } from './organization-limits.ts';

/** About what a delivery takes in the database, with an attempt; bytes (docs/operate/scaling.md). */
const DELIVERY_BYTES = 1500;
/**
 * What an organization may have waiting, and hold of the database, as a multiple of what it leaves free. A disk is not
 * wasted.
 */
const TIMES_FREE = { backlog: 3, database: 9 };

/**
 * From which part of the limit on an organization or a destination can be full: whose the backlog is need not be known
 * below.
 */
export const FULL_FROM = 3 / 8;
/** Below this size no organization can hold more of the database than it may. */
export const sharedFrom = (limit: number): number => (limit * TIMES_FREE.database) / (TIMES_FREE.database + 1);

export interface Sender {
  organizationId: string;
  limits: Pick<Limits, 'waitingDeliveries'>;
}

/** Where each delivery of an event goes that would wait. */
export type WaitingOf = readonly { destinationId: string }[];

export type NoRoom =
  | { full: 'database' | 'share of the database' | 'service' | 'organization' }
  | { full: 'destination'; destinationId: string }
  | { full: 'waitingDeliveries'; most: number; waiting: number };

export interface Counted {
  total: number;
  /** By organization; a missing one has next to nothing. */
  own: ReadonlyMap<string, number>;
}

export interface Waiting extends Counted {
  destinations: readonly { id: string; organizationId: string; waiting: number }[];
}

/** Ends an addition, once. @param isStored whether it was committed; otherwise it no longer counts */
export type Settle = (isStored: boolean) => void;

/** Something that organizations share, of which only a count now and then is known. */
export class Room {
  limit: number;
  readonly #timesFree: number;
  #counted: Counted = { total: 0, own: new Map() };
  /** What is being stored: no count replaces it, because a count sees only what was committed when it began. */
  readonly #storing = new Map<string, number>();
  /** Stored since the last count began, and before: what a count may not include. */
  #since = new Map<string, number>();
  #before = new Map<string, number>();
  #added = 0;

  constructor(limit: number, timesFree: number) {
    this.limit = limit;
    this.#timesFree = timesFree;
  }

  get counted(): Counted {
    return this.#counted;
  }

  get left(): number {
    return this.limit - this.#counted.total - this.#added;
  }

  of(organizationId: string): number {
    const of = (amounts: ReadonlyMap<string, number>) => amounts.get(organizationId) ?? 0;
    return of(this.#counted.own) + of(this.#storing) + of(this.#since) + of(this.#before);
  }

  /** @param more what it adds besides */
  isFullFor(organizationId: string, more = 0): boolean {
    return !mayHold(this.of(organizationId) + more, 1, this.left - more - 1, this.#timesFree);
  }

  add(organizationId: string, amount: number): Settle {
    this.#change(this.#storing, organizationId, amount);
    return (isStored) => {
      this.#change(this.#storing, organizationId, -amount);
      if (isStored) this.#change(this.#since, organizationId, amount);
    };
  }

  /** Takes over a count. @param read throws when it cannot be read; the last count stays valid then */
  async count<Result extends Counted>(read: () => Promise<Result>): Promise<Result> {
    for (const [id, amount] of this.#since) this.#before.set(id, (this.#before.get(id) ?? 0) + amount);
    this.#since = new Map();
    const counted = await read();
    for (const amount of this.#before.values()) this.#added -= amount;
    this.#before = new Map();
    this.#counted = counted;
    return counted;
  }

  #change(amounts: Map<string, number>, id: string, by: number): void {
    this.#added += by;
    const amount = (amounts.get(id) ?? 0) + by;
    if (amount === 0) amounts.delete(id);
    else amounts.set(id, amount);
  }
}

export class BacklogRoom {
  readonly backlog: Room;
  /** In bytes; a count sets its limit. */
  readonly database = new Room(Number.POSITIVE_INFINITY, TIMES_FREE.database);
  readonly #destinations = new Room(Number.POSITIVE_INFINITY, TIMES_FREE.backlog);
  #counted: Waiting['destinations'] = [];

  /** @param limit in deliveries; 0: none */
  constructor(limit: number) {
    this.backlog = new Room(limit || Number.POSITIVE_INFINITY, TIMES_FREE.backlog);
  }

  /** Takes over a count of the backlog. @param read as for a room */
  async count(read: () => Promise<Waiting>): Promise<void> {
    let counted: Waiting = { total: 0, own: new Map(), destinations: [] };
    await this.backlog.count(async () => {
      await this.#destinations.count(async () => {
        counted = await read();
        return { total: 0, own: new Map(counted.destinations.map(({ id, waiting }) => [id, waiting])) };
      });
      return counted;
    });
    this.#counted = counted.destinations;
  }

  get full(): { all: boolean; organizations: string[]; destinations: string[] } {
    const fullOf = (room: Room) => [...room.counted.own.keys()].filter((id) => room.isFullFor(id));
    return {
      all: this.fullForAll() !== null,
      organizations: [...new Set([...fullOf(this.backlog), ...fullOf(this.database)])],
      destinations: this.#counted.flatMap(({ id, organizationId }) => (this.#isFull(id, organizationId) ? [id] : [])),
    };
  }

  fullForAll(): NoRoom | null {
    if (this.database.left <= 0) return { full: 'database' };
    return this.backlog.left <= 0 ? { full: 'service' } : null;
  }

  /**
   * An event is stored whole: there is room if one more delivery may wait.
   * @param before deliveries that are to be stored with it, and have their room
   */
  refusal(sender: Sender, event: WaitingOf, before = 0): NoRoom | null {
    const noRoom = this.databaseRefusal(sender);
    if (noRoom !== null || event.length === 0) return noRoom;
    const { organizationId, limits } = sender;
    for (const { destinationId } of event)
      if (this.#isFull(destinationId, organizationId)) return { full: 'destination', destinationId };
    const own = this.backlog.of(organizationId);
    if (own + before >= limits.waitingDeliveries)
      return { full: 'waitingDeliveries', most: limits.waitingDeliveries, waiting: own };
    return this.backlog.isFullFor(organizationId, before) ? { full: 'organization' } : null;
  }

  /** Whether an organization holds so much of the database that nothing more of it is stored. */
  databaseRefusal({ organizationId }: Pick<Sender, 'organizationId'>): NoRoom | null {
    return this.database.isFullFor(organizationId) ? { full: 'share of the database' } : null;
  }

  /** How many of these events, one after the other, have room; and what is full for the next one. */
  fitting(sender: Sender, events: readonly WaitingOf[]): { count: number; noRoom: NoRoom | null } {
    let before = 0;
    for (const [count, event] of events.entries()) {
      const noRoom = this.fullForAll() ?? this.refusal(sender, event, before);
      if (noRoom !== null) return { count, noRoom };
      before += event.length;
    }
    return { count: events.length, noRoom: null };
  }

  /** Counts what is about to be stored. @param bytes what it takes in the database besides its deliveries */
  add(organizationId: string, waiting: WaitingOf, bytes = 0): Settle {
    const settle = [
      this.backlog.add(organizationId, waiting.length),
      this.database.add(organizationId, bytes + waiting.length * DELIVERY_BYTES),
      ...waiting.map(({ destinationId }) => this.#destinations.add(destinationId, 1)),
    ];
    return (isStored) => {
      for (const each of settle) each(isStored);
    };
  }

  /** A destination may have waiting what its organization may still add. */
  #isFull(destinationId: string, organizationId: string): boolean {
    const share = TIMES_FREE.backlog * this.backlog.left - this.backlog.of(organizationId);
    return this.#destinations.of(destinationId) >= Math.max(1, share / (TIMES_FREE.backlog + 1));
  }
}

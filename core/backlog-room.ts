// What may be added to the backlog and to the database, as one process knows it: the last count, and what this process has let in
// since. Webhooks (api/ingest/backlog.ts) and replays (api/replay-room.ts, activities/replay-room.ts) ask it, and cost no statement
// more.
import { type Admission, ALL_OPEN, admit, type Waiting } from './backlog-limit.ts';
import { DatabaseRoom } from './database-room.ts';
import { leftFor } from './fair-share.ts';
import { Reservations, type Reservation } from './reservations.ts';
import type { Limits } from './limits.ts';

/** About what a delivery takes in the database, with an attempt; bytes (docs/disk.md). */
const DELIVERY_BYTES = 1500;

/** Who adds deliveries, with the limits in force. */
export interface Sender {
  organizationId: string;
  limits: Pick<Limits, 'waitingDeliveries'>;
}

/** Where each delivery of an event goes that would wait. */
export type WaitingOf = readonly { destinationId: string }[];

/** What is full. */
export type NoRoom =
  | { full: 'database' | 'share of the database' | 'service' | 'organization' }
  | { full: 'destination'; destinationId: string }
  | { full: 'waitingDeliveries'; most: number; waiting: number };

export class BacklogRoom {
  /** In deliveries; 0: none. */
  readonly limit: number;
  #admission: Admission = ALL_OPEN;
  /** The last count. */
  #counted = { total: 0, organizations: new Map<string, number>(), alone: false };
  readonly #reservations = new Reservations();
  readonly database = new DatabaseRoom();

  constructor(limit: number) {
    this.limit = limit;
  }

  get admission(): Admission {
    return this.#admission;
  }

  /** Whether there is only one organization. */
  get alone(): boolean {
    return this.#counted.alone;
  }

  /** Whether something that was open may be full by now, so that another count is due. */
  get mayBeFull(): boolean {
    return this.#reservations.total >= this.#admission.margin || this.database.mayBeFull;
  }

  /** Takes over a count of the backlog. @param read throws when it cannot be read; the last count stays valid then */
  async count(read: () => Promise<Waiting>): Promise<void> {
    this.#reservations.countBegins();
    let counted = false;
    try {
      const waiting = await read();
      counted = true;
      const { total, organizations, alone } = waiting;
      this.#counted = { total, organizations: new Map(organizations.map(({ id, waiting }) => [id, waiting])), alone };
      if (this.limit > 0) this.#admission = admit(this.limit, waiting, this.#admission);
    } finally {
      this.#reservations.countEnds(counted);
    }
  }

  /** Whether nothing is accepted, from whomever. */
  fullForAll(): NoRoom | null {
    if (this.database.isFull) return { full: 'database' };
    return this.#admission.full ? { full: 'service' } : null;
  }

  /**
   * What is full for the deliveries of an event. An event is stored whole: there is room if one more delivery may wait.
   * @param before deliveries that are to be stored with it, and have their room
   */
  refusal(sender: Sender, event: WaitingOf, before = 0): NoRoom | null {
    const noRoom = this.databaseRefusal(sender);
    if (noRoom !== null || event.length === 0) return noRoom;
    const { fullOrganizations, fullDestinations } = this.#admission;
    for (const { destinationId } of event) {
      if (fullDestinations.has(destinationId)) return { full: 'destination', destinationId };
    }
    const { organizationId, limits } = sender;
    const own = (this.#counted.organizations.get(organizationId) ?? 0) + this.#reservations.of(organizationId);
    if (own + before >= limits.waitingDeliveries)
      return { full: 'waitingDeliveries', most: limits.waitingDeliveries, waiting: own };
    if (fullOrganizations.has(organizationId) || this.#shareLeft(own) <= before) return { full: 'organization' };
    return null;
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
  add(organizationId: string, deliveries: number, bytes = 0): Reservation {
    const places = [
      this.#reservations.add(organizationId, deliveries),
      this.database.add(organizationId, bytes + deliveries * DELIVERY_BYTES),
    ];
    return {
      keep() {
        for (const place of places) place.keep();
      },
      release(asksAgain) {
        for (const place of places) place.release(asksAgain);
      },
    };
  }

  #shareLeft(own: number): number {
    const { total, alone } = this.#counted;
    if (this.limit === 0 || alone) return Number.POSITIVE_INFINITY;
    return leftFor({ limit: this.limit, taken: total + this.#reservations.total, alone }, own);
  }
}

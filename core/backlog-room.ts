// What may be added to the backlog, as one process knows it: the last count, and what this process has let in since. Webhooks
// (api/ingest/backlog.ts) and replays (api/replay-room.ts, activities/replay-room.ts) ask it, and cost no statement more.
import { type Admission, ALL_OPEN, admit, type Waiting } from './backlog-limit.ts';
import { leftFor } from './fair-share.ts';
import { LetIn, type Place } from './let-in.ts';
import type { Limits } from './limits.ts';

// The database has room again below this part of its limit; it shrinks by whole days (retention).
const DATABASE_REOPENS_AT = 0.98;

/** Who adds deliveries, with the limits in force. */
export interface Sender {
  organizationId: string;
  limits: Pick<Limits, 'waitingDeliveries'>;
}

/** Where each delivery of an event goes that would wait. */
export type WaitingOf = readonly { destinationId: string }[];

/** What is full. */
export type NoRoom =
  | { full: 'database' | 'service' | 'organization' }
  | { full: 'destination'; destinationId: string }
  | { full: 'waitingDeliveries'; most: number; waiting: number };

export class BacklogRoom {
  /** In deliveries; 0: none. */
  readonly limit: number;
  #admission: Admission = ALL_OPEN;
  /** The last count. */
  #counted = { total: 0, organizations: new Map<string, number>(), alone: false };
  readonly #letIn = new LetIn();
  #databaseFull = false;

  constructor(limit: number) {
    this.limit = limit;
  }

  get admission(): Admission {
    return this.#admission;
  }

  get databaseFull(): boolean {
    return this.#databaseFull;
  }

  /** Whether there is only one organization. */
  get alone(): boolean {
    return this.#counted.alone;
  }

  /** Whether something that was open may be full by now, so that another count is due. */
  get mayBeFull(): boolean {
    return this.#letIn.total >= this.#admission.margin;
  }

  /** Takes over a count of the backlog. @param read throws when it cannot be read; the last count stays valid then */
  async count(read: () => Promise<Waiting>): Promise<void> {
    this.#letIn.countBegins();
    let counted = false;
    try {
      const waiting = await read();
      counted = true;
      const { total, organizations, alone } = waiting;
      this.#counted = { total, organizations: new Map(organizations.map(({ id, waiting }) => [id, waiting])), alone };
      if (this.limit > 0) this.#admission = admit(this.limit, waiting, this.#admission);
    } finally {
      this.#letIn.countEnds(counted);
    }
  }

  /** Takes over the size of the database. */
  measured(bytes: number, limit: number): void {
    this.#databaseFull = bytes >= (this.#databaseFull ? limit * DATABASE_REOPENS_AT : limit);
  }

  /** Whether nothing is accepted, from whomever. */
  fullForAll(): NoRoom | null {
    if (this.#databaseFull) return { full: 'database' };
    return this.#admission.full ? { full: 'service' } : null;
  }

  /**
   * What is full for the deliveries of an event. An event is stored whole: there is room if one more delivery may wait.
   * @param before deliveries that are to be stored with it, and have their room
   */
  refusal(sender: Sender, event: WaitingOf, before = 0): NoRoom | null {
    if (event.length === 0) return null;
    const { fullOrganizations, fullDestinations } = this.#admission;
    for (const { destinationId } of event) {
      if (fullDestinations.has(destinationId)) return { full: 'destination', destinationId };
    }
    const { organizationId, limits } = sender;
    const own = (this.#counted.organizations.get(organizationId) ?? 0) + this.#letIn.of(organizationId);
    if (own + before >= limits.waitingDeliveries)
      return { full: 'waitingDeliveries', most: limits.waitingDeliveries, waiting: own };
    if (fullOrganizations.has(organizationId) || this.#shareLeft(own) <= before) return { full: 'organization' };
    return null;
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

  /** Counts what is about to be stored. */
  add(organizationId: string, count: number): Place {
    return this.#letIn.add(organizationId, count);
  }

  #shareLeft(own: number): number {
    const { total, alone } = this.#counted;
    if (this.limit === 0 || alone) return Number.POSITIVE_INFINITY;
    return leftFor({ limit: this.limit, taken: total + this.#letIn.total, alone }, own);
  }
}

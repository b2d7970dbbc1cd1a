// The room in the database, as one process knows it: how large it was at the last look, whose it was, and what this process has
// let in since. Organizations share it, so that one that fills it is refused before the others are.
//
// An organization may hold nine times what is free. So a single one stops at nine tenths, two stop at nine nineteenths each, and
// any number of them leaves something (the rule of fair-share.ts, which leaves a half, would waste a disk).
import { Reservations, type Reservation } from './reservations.ts';

const TIMES_FREE = 9;
/** Hysteresis: an organization is let in again below this part of what it may hold. */
const ORGANIZATION_REOPENS_AT = 0.9;
/** The database has room again below this part of its limit; it shrinks by whole days (retention). */
const DATABASE_REOPENS_AT = 0.98;
/** Something may be full when so much of what was free has been let in since the last look. */
const LOOK_AFTER = 0.05;

const NO_LIMIT: Reservation = { keep: () => undefined, release: () => undefined };

/** What a look has found; bytes. */
export interface Stored {
  size: number;
  limit: number;
  /** The part of `size` that an organization holds, from 0 to 1. A missing one holds next to nothing, or it does not matter yet. */
  parts: ReadonlyMap<string, number>;
  /** Whether there is only one organization, so that nothing is kept for others. */
  alone: boolean;
}

/** Below this size no organization can hold more than it may: whose the database is need not be known. */
export const sharedFrom = (limit: number): number => (limit * TIMES_FREE * ORGANIZATION_REOPENS_AT) / (TIMES_FREE + 1);

export class DatabaseRoom {
  #stored: Stored = { size: 0, limit: Number.POSITIVE_INFINITY, parts: new Map(), alone: true };
  #isFull = false;
  #fullOrganizations: ReadonlySet<string> = new Set();
  readonly #reservations = new Reservations();

  /** Nothing is accepted, from whomever. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Whose it was at the last look. */
  get parts(): ReadonlyMap<string, number> {
    return this.#stored.parts;
  }

  /** Organizations that held more than they may at the last look. */
  get fullOrganizations(): ReadonlySet<string> {
    return this.#fullOrganizations;
  }

  /** Whether something that had room may be full by now, so that another look is due. */
  get mayBeFull(): boolean {
    const { size, limit } = this.#stored;
    return this.#reservations.total > (limit - size) * LOOK_AFTER;
  }

  /** Takes over what was found. @param read throws when it cannot be read; the last look stays valid then */
  async look(read: () => Promise<Stored>): Promise<void> {
    this.#reservations.countBegins();
    let found = false;
    try {
      const stored = await read();
      found = true;
      this.#takeOver(stored);
    } finally {
      this.#reservations.countEnds(found);
    }
  }

  /** Whether an organization holds more than it may, so that nothing more of it is stored. */
  isFullFor(organizationId: string): boolean {
    const { size, limit, parts, alone } = this.#stored;
    if (alone) return false;
    if (this.#fullOrganizations.has(organizationId)) return true;
    const own = (parts.get(organizationId) ?? 0) * size + this.#reservations.of(organizationId);
    return own > TIMES_FREE * (limit - size - this.#reservations.total);
  }

  /** Counts what is about to be stored. @param bytes about how much it takes */
  add(organizationId: string, bytes: number): Reservation {
    if (!Number.isFinite(this.#stored.limit)) return NO_LIMIT;
    return this.#reservations.add(organizationId, bytes);
  }

  #takeOver(stored: Stored): void {
    const { size, limit, parts, alone } = stored;
    this.#stored = stored;
    this.#isFull = size >= (this.#isFull ? limit * DATABASE_REOPENS_AT : limit);
    const before = this.#fullOrganizations;
    const most = (id: string) => TIMES_FREE * (limit - size) * (before.has(id) ? ORGANIZATION_REOPENS_AT : 1);
    const full = alone ? [] : [...parts].filter(([id, part]) => part * size > most(id));
    this.#fullOrganizations = new Set(full.map(([id]) => id));
  }
}

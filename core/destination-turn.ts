// The turn of this process at a destination at which fewer attempts may be under way than there are workers: by its `maxConcurrency`, or
// by what it copes with (shared-limit.ts). What it may have under way there are places that PostgreSQL gives it
// (db/delivery/destination-turns.ts), each to one worker at a time. A worker that others wait for gives its places up after a while,
// when nothing of it is under way there.
//
// What it promises: no attempt begins here without a place that is valid. A place is valid for less time than others leave it to this
// process without hearing of it, so that neither clocks nor a database that is away give it to two.

import type { Excess, Outcomes } from './shared-limit.ts';

/** How long a place is left to a worker that says nothing, ms. */
export const PLACE_HELD_MS = 30_000;
/** How long this process uses it after it has said so, ms. */
const PLACE_VALID_MS = 20_000;
/** How long a turn lasts when others wait, ms. */
const TURN_MS = 2000;
/** After so long without an attempt there is nothing left for this turn, ms. */
const IDLE_MS = 250;

/** What this process wants of a destination. */
export interface TurnRequest {
  destinationId: string;
  /** Whether it waits for a place, or for another one. */
  wants: boolean;
  /** The places that it continues to hold. */
  places: number[];
  /** Where the limit of all workers is known, or begins. */
  shared?: SharedReport;
}

/** What a worker tells of a shared limit. */
export interface SharedReport {
  /** What it knows; null: nothing yet. */
  version: number | null;
  seen: Outcomes;
  /** Why there has to be one; null: there is one. */
  excess: Excess | null;
}

/** How many places it may hold, and below which number. */
export interface TurnBounds {
  most: number;
  below: number;
}

/** What it was told of a destination. */
export interface TurnAnswer {
  destinationId: string;
  /** The places that it holds now. */
  places: number[];
  /** How many there are. */
  all: number;
  /** The shared limit, and whether what was told of it was heard; null: there is none. */
  shared: { version: number; isHeard: boolean } | null;
  /** Whether other workers wait for one. */
  isContested: boolean;
}

export class DestinationTurn {
  #places: number[] = [];
  #validUntil = Number.NEGATIVE_INFINITY;
  #beganAt = 0;
  #usedAt = Number.NEGATIVE_INFINITY;
  #wants = false;
  #isEnding = false;
  /** Since when nothing begins, until it has been asked again. */
  #pausedAt: number | null = null;

  /** Whether it holds places, or waits for one. */
  get isWanted(): boolean {
    return this.#wants || this.#places.length > 0;
  }

  get wants(): boolean {
    return this.#wants;
  }

  /** How many attempts may be under way. @param now ms of a monotonic clock */
  limit(now: number): number {
    return this.#isEnding || this.#pausedAt !== null || now >= this.#validUntil ? 0 : this.#places.length;
  }

  /** Something found no place, or was given one. */
  tried(isWithin: boolean, now: number): void {
    if (isWithin) this.#usedAt = now;
    else this.#wants = true;
  }

  /** The destination was too busy: nothing begins before it is known how many places there are then. */
  pause(now: number): void {
    this.#pausedAt = now;
  }

  /** Nothing is wanted and nothing held: the destination is gone, or is used without turns now. */
  end(): void {
    this.#wants = false;
    this.#places = [];
    this.#isEnding = false;
    this.#pausedAt = null;
  }

  /**
   * What to ask for now.
   * @param taken attempts under way here
   */
  request(taken: number, { most, below }: TurnBounds, now: number): Pick<TurnRequest, 'wants' | 'places'> {
    this.#places = this.#places.filter((place) => place < below).slice(0, Math.max(most, taken));
    if (taken > 0) this.#usedAt = now;
    if (this.#isEnding && taken === 0) {
      // There may be more, of which nothing is known here.
      this.#wants = this.#usedAt >= this.#beganAt;
      this.#places = [];
      this.#isEnding = false;
    } else if (this.#places.length > 0) {
      this.#wants = !this.#isEnding && taken >= this.#places.length && this.#places.length < most;
    }
    return { wants: this.#wants, places: this.#places };
  }

  /** Whether it is to be asked for at once: it waits, or gives something up. */
  isUrgent(taken: number): boolean {
    return this.#wants || (this.#isEnding && taken === 0);
  }

  /**
   * @param askedAt when it was asked for, ms of the same clock
   * @param taken attempts under way here
   */
  told(
    { places, all, isContested }: Omit<TurnAnswer, 'destinationId' | 'shared'>,
    askedAt: number,
    taken: number,
    now: number,
  ): void {
    if (this.#pausedAt !== null && askedAt >= this.#pausedAt) this.#pausedAt = null;
    if (places.length > 0 && this.#places.length === 0) this.#beganAt = now;
    this.#places = places;
    this.#validUntil = askedAt + PLACE_VALID_MS;
    if (places.length === 0) return;
    this.#wants = false;
    const isOver = now - this.#beganAt >= TURN_MS;
    const isIdle = taken === 0 && now - Math.max(this.#usedAt, this.#beganAt) >= IDLE_MS;
    const isTooMany = places.some((place) => place >= all);
    if (isTooMany || (isContested && (isOver || isIdle))) this.#isEnding = true;
  }
}

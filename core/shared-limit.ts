// The limit of all workers together at a destination that copes with fewer attempts than workers use it. It is kept in PostgreSQL
// (db/delivery/shared-limits.ts): what one worker of fifty sees, an attempt at a time, says too little. Workers tell their outcomes
// with what they ask of turns, and hold one place at most.
//
// The rules are those of the limit of one worker (concurrency-limit.ts), without latency: what only waits is not refused, and has a
// place for each worker.
import type { Answer } from './concurrency-limit.ts';

/** However overloaded a destination is, all workers together. */
export const FEWEST_PLACES = 4;
/** A limit without news for this long is forgotten, ms. */
export const SHARED_FOR_MS = 60_000;

// A window is judged when it is so old and has so many outcomes.
const WINDOW_MS = 500;
const WINDOW_OUTCOMES = 10;
// Two refusals say nothing, nor do a few among many, nor what is usual and four standard deviations more.
const LONE_REFUSALS = 2;
const FEW = 0.02;
const DEVIATIONS = 4;
const USUAL_OUTCOMES = 2000;
const MOST_USUAL = 0.1;
const DECREASE = 0.7;
const STEP = 1.5;
// An increase needs this part of the places to be held.
const USED = 0.75;
// Up to this part of what was too much it returns quickly; so much beyond, it is free again.
const SAFE_PART = 0.85;
const BEYOND = 1.1;
// Between single steps: ms, doubled when one was too much again, and outcomes for each place.
const PATIENCE_MS = 2000;
const MOST_PATIENCE_MS = 8000;
const PATIENCE_OUTCOMES = 20;
// At the floor: outcomes that tell whether it is down, which it is beyond this part of refusals.
const FLOOR_OUTCOMES = 40;
const DOWN_PART = 0.25;
// An attempt without an answer for so long, ms, has met no closed connection: it has waited.
const LONG_MS = 1000;
// How busy a place is, is seen in spans of so long, ms.
const BUSY_SPAN_MS = 5000;

export interface SharedLimit {
  places: number;
  /** Of what is known; outcomes of attempts that were sent before the last decrease are of an earlier one. */
  version: number;
  /** Outcomes of this window, and the most places that were held in it. */
  answered: number;
  refused: number;
  mostHeld: number;
  /** Outcomes since the limit has changed. */
  outcomes: number;
  /** The part that is refused whatever is under way. */
  usual: number;
  tooMuch: number | null;
  patienceMs: number;
  /** Ages, ms. */
  windowMs: number;
  changedMs: number;
}

/** What a worker has seen since it was told last. */
export interface Outcomes {
  answered: number;
  refused: number;
  /** Of the refused: those that waited long for nothing. */
  hung: number;
}

/** Who uses the destination now. */
export interface SharedUse {
  /** Places that are held. */
  held: number;
  /** Workers. */
  users: number;
}

/** Why one place for each worker is too much, as one of them sees it. */
export interface Excess {
  isHanging: boolean;
  /** The part of the time in which an attempt was under way. */
  busy: number;
}

/** @param users workers that have one place each, which is too much. @returns null when there is no need for turns */
export function beginShared({ users }: Pick<SharedUse, 'users'>, { isHanging, busy }: Excess): SharedLimit | null {
  const level = isHanging ? 0 : Math.round(busy * users);
  const places = Math.max(FEWEST_PLACES, Math.floor(DECREASE * level));
  if (places >= users) return null;
  // Where little was under way, the load is hardly the reason.
  const caution = level > FEWEST_PLACES ? tooMuchAt(level, null) : { tooMuch: null, patienceMs: PATIENCE_MS };
  return { ...NEW_WINDOW, ...caution, places, version: 0, outcomes: 0, usual: 0, changedMs: 0 };
}

const NEW_WINDOW = { answered: 0, refused: 0, mostHeld: 0, windowMs: 0 };

/** @returns the limit after what a worker has seen at it; null: there is a place for each, so it is not needed any more */
export function nextShared(shared: SharedLimit, seen: Outcomes, { held, users }: SharedUse): SharedLimit | null {
  const now = {
    ...shared,
    answered: shared.answered + seen.answered,
    refused: shared.refused + seen.refused,
    outcomes: shared.outcomes + seen.answered + seen.refused,
    mostHeld: Math.max(shared.mostHeld, held),
  };
  const isAtFloor = now.places <= FEWEST_PLACES;
  if (!isAtFloor && areMany(now)) return decrease(now, seen);
  const outcomes = now.answered + now.refused;
  if (now.windowMs < WINDOW_MS || outcomes < WINDOW_OUTCOMES) return now;
  if (isAtFloor && now.refused > 0) {
    if (outcomes < FLOOR_OUTCOMES) return now;
    // Nothing is left to reduce, so the load is not the reason.
    now.tooMuch = null;
    if (now.refused > DOWN_PART * outcomes) return { ...now, ...NEW_WINDOW };
  }
  const next = now.mostHeld >= USED * Math.min(now.places, users) ? increase(now, users) : now;
  return next && { ...next, ...NEW_WINDOW, usual: usualAfter(now) };
}

function areMany({ answered, refused, usual: known }: SharedLimit): boolean {
  const outcomes = answered + refused;
  const usual = Math.min(MOST_USUAL, known) * outcomes;
  return refused > Math.max(usual + DEVIATIONS * Math.sqrt(usual) + LONE_REFUSALS, FEW * outcomes);
}

function decrease(now: SharedLimit, { hung }: Outcomes): SharedLimit {
  const isHanging = hung > 0 && now.answered === 0;
  const level = Math.max(1, Math.min(now.places, now.mostHeld));
  const places = isHanging ? FEWEST_PLACES : Math.max(FEWEST_PLACES, Math.floor(DECREASE * level));
  const caution = isHanging ? { tooMuch: null, patienceMs: PATIENCE_MS } : tooMuchAt(level, now);
  return { ...now, ...NEW_WINDOW, ...caution, places, version: now.version + 1, outcomes: 0, changedMs: 0 };
}

/** When it is too much for another time, single steps become more seldom. */
function tooMuchAt(level: number, before: SharedLimit | null): Pick<SharedLimit, 'tooMuch' | 'patienceMs'> {
  const again = before !== null && before.tooMuch !== null && level <= BEYOND * before.tooMuch;
  return { tooMuch: level, patienceMs: again ? Math.min(MOST_PATIENCE_MS, 2 * before.patienceMs) : PATIENCE_MS };
}

function usualAfter({ answered, refused, usual }: SharedLimit): number {
  const outcomes = answered + refused;
  return usual + (refused / outcomes - usual) * Math.min(1, outcomes / USUAL_OUTCOMES);
}

function increase(now: SharedLimit, users: number): SharedLimit | null {
  if (now.places >= users) return null;
  const { places, tooMuch } = now;
  const safe =
    tooMuch === null || places > BEYOND * tooMuch ? Number.POSITIVE_INFINITY : Math.floor(SAFE_PART * tooMuch);
  const free = safe === Number.POSITIVE_INFINITY ? null : tooMuch;
  const to = (next: number) => ({ ...now, places: next, tooMuch: free, outcomes: 0, changedMs: 0 });
  if (places < safe) return to(Math.min(safe, Math.max(places + 1, Math.floor(places * STEP))));
  const isPatient = now.changedMs >= now.patienceMs && now.outcomes >= PATIENCE_OUTCOMES * places;
  return isPatient ? to(places + 1) : now;
}

export const NOTHING_SEEN: Outcomes = { answered: 0, refused: 0, hung: 0 };

/** How busy the place of a worker is. */
export class PlaceUse {
  #since = Number.NEGATIVE_INFINITY;
  #busyMs = 0;

  add({ startedAt, at }: Answer): void {
    if (at - this.#since > BUSY_SPAN_MS) [this.#since, this.#busyMs] = [startedAt, 0];
    this.#busyMs += at - startedAt;
  }

  /** @returns the part of the time in which an attempt was under way */
  busy(now: number): number {
    return Math.min(1, this.#busyMs / Math.max(1, now - this.#since));
  }
}

/** What a worker sees at a shared limit. */
export class SharedTally {
  #seen: Outcomes = NOTHING_SEEN;
  #version: number | null = null;
  #since: number;

  /** @param now of a monotonic clock, ms */
  constructor(now: number) {
    this.#since = now;
  }

  /** The limit that it knows; null: none yet. */
  get version(): number | null {
    return this.#version;
  }

  /** @returns whether it was refused at the limit that is known */
  count({ kind, startedAt, at }: Answer): boolean {
    if (startedAt < this.#since) return false;
    const isRefused = kind !== 'answered';
    const { answered, refused, hung } = this.#seen;
    this.#seen = {
      answered: answered + (isRefused ? 0 : 1),
      refused: refused + (isRefused ? 1 : 0),
      hung: hung + (kind === 'silent' && at - startedAt >= LONG_MS ? 1 : 0),
    };
    return isRefused;
  }

  /** Whether it is to be told at once, or asked for: until then nothing may begin. */
  get isNews(): boolean {
    return this.#version === null || this.#seen.refused > 0;
  }

  /** What is to be told. */
  get seen(): Outcomes {
    return this.#seen;
  }

  /** Of the limit as it is now. @param told what was told of what was seen: once heard, it is not told again */
  told({ version, isHeard }: { version: number; isHeard: boolean }, now: number, told: Outcomes): void {
    if (version === this.#version) {
      if (!isHeard) return;
      const { answered, refused, hung } = this.#seen;
      this.#seen = { answered: answered - told.answered, refused: refused - told.refused, hung: hung - told.hung };
    } else {
      this.#version = version;
      this.#seen = NOTHING_SEEN;
      this.#since = now;
    }
  }
}

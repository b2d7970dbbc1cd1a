// How many attempts one process may have under way at a destination: additive increase, multiplicative decrease, with
// the slow start of TCP (RFC 5681).
//
// * While the limit is used and answers come about as quickly as usual, each answer increases it by one.
// * Refusals for overload, and attempts without an answer, take it to 70 % when they are more than one in ten. It
//   returns quickly to 85 % of where that happened, and goes on to 110 % by one in ten rounds of answers: a destination
//   that fails as a whole at some level fails seldom. Beyond, it is quick again.
// * A destination that answered nothing while an attempt waited long hangs: the limit falls to a few at once. In steps
//   each would take as long as a time-out.
// * Where it hung, or refused the only attempt, the load is not the reason, so the limit returns quickly all the way.

export interface Answer {
  /** When it was sent, and when its answer came or was given up; ms of one monotonic clock. */
  startedAt: number;
  at: number;
  /** Attempts under way when it was sent or when it was answered, whichever are more; itself included. */
  underWay: number;
  kind: AnswerKind;
}

/** `refused`: for overload (429, 502, 503, 504); `silent`: not answered. */
export type AnswerKind = 'answered' | 'refused' | 'silent';

/** Whole numbers of at least 1. */
export interface LimitRange {
  initial: number;
  /** For a destination that hangs. */
  hanging: number;
  ceiling: number;
}

// An increase needs this part of the limit to be used.
const USED = 0.75;
const DECREASE = 0.7;
// Between these parts of the level that was too much, a round of answers increases the limit by `STEP`.
const SAFE_PART = 0.85;
const BEYOND = 1.1;
const STEP = 0.1;
// Weight of an outcome in the moving average of refusals, and from where they are too many: two in a row are not.
const REFUSAL_WEIGHT = 0.05;
const MANY_REFUSALS = 0.1;
// An attempt without an answer for so long, ms, has met no closed connection: it has waited.
const LONG_MS = 1000;
// Latency counts as risen at more than this multiple of what it usually is, plus ms.
const RISEN = 2;
const RISEN_SLACK_MS = 50;
// Weights in the usual latency: of an answer that is quicker, and of a round of answers that are slower. Answers that
// wait for each other must not become usual soon.
const WEIGHT_BELOW = 0.3;
const WEIGHT_ABOVE = 0.001;

export class DestinationLimit {
  /** With the fraction; null: nothing is known. */
  #limit: number | null = null;
  /** The level at which there were too many refusals; null: not known. */
  #refusedAt: number | null = null;
  #decreasedAt = Number.NEGATIVE_INFINITY;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #refusals = 0;
  #usualMs: number | null = null;

  value(range: LimitRange): number {
    return Math.floor(Math.min(range.ceiling, this.#limit ?? range.initial));
  }

  observe({ kind, startedAt, at, underWay }: Answer, range: LimitRange): void {
    // The ceiling may rise again: what was learned stays above it.
    const known = this.#limit ?? range.initial;
    const limit = Math.min(range.ceiling, known);
    const isHanging = kind === 'silent' && at - startedAt >= LONG_MS && this.#answeredAt < startedAt;
    if (kind !== 'silent') this.#answeredAt = at;
    // What was sent before a decrease says nothing about the limit since, so there is at most one for each round trip.
    if (startedAt < this.#decreasedAt) return;
    this.#refusals += REFUSAL_WEIGHT * ((kind === 'answered' ? 0 : 1) - this.#refusals);
    const areMany = this.#refusals > MANY_REFUSALS;
    if (kind === 'answered') {
      const isQuick = this.#learn(at - startedAt, limit);
      if (isQuick && !areMany && known < range.ceiling && underWay >= USED * Math.floor(limit)) this.#increase(limit);
    } else if (isHanging) this.#decrease(Math.min(limit, range.hanging), null, at);
    else if (areMany) this.#decrease(Math.max(1, DECREASE * limit), limit > 1 ? limit : null, at);
  }

  #decrease(limit: number, refusedAt: number | null, at: number): void {
    this.#limit = limit;
    this.#refusedAt = refusedAt;
    this.#decreasedAt = at;
    this.#refusals = 0;
  }

  #increase(limit: number): void {
    const level = this.#refusedAt;
    if (level === null || limit > BEYOND * level) this.#limit = limit + 1;
    else this.#limit = Math.max(limit + STEP / limit, Math.min(limit + 1, SAFE_PART * level));
  }

  /** @returns whether it came about as quickly as usual */
  #learn(latencyMs: number, limit: number): boolean {
    const usual = this.#usualMs ?? latencyMs;
    this.#usualMs = usual + (latencyMs < usual ? WEIGHT_BELOW : WEIGHT_ABOVE / limit) * (latencyMs - usual);
    return latencyMs <= RISEN * usual + RISEN_SLACK_MS;
  }
}

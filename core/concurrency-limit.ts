// How many attempts may be under way at a destination at a time: more while more bring more answers, fewer when it is overloaded.
//
// Additive increase, multiplicative decrease, with the slow start of TCP: RFC 5681, and AIMDLimit of Netflix's
// concurrency-limits (an increase only while the limit is used; a decrease when an attempt is dropped). What latency says is judged
// by the median of a window of answers, as in Envoy's adaptive concurrency filter, and against the median before: by Little's law
// (answers a second = under way / latency) a larger limit brings more answers only as far as latency does not rise with it.
//
// * A step up is taken back when latency rose by half of the step or more: the answers only waited for each other.
// * Three attempts, more than 2 % of them, and clearly more than usual, that are refused for overload or get no answer, take the limit to
//   70 %. What was sent before that says nothing about the new limit, so there is at most one such step for each round trip.
// * From then on the limit returns quickly to a little below where that happened, and goes beyond in single steps, seldom. So a
//   destination that fails as a whole at some level sees that level a few times a minute, not a few times a second. This is not
//   forgotten when latency rises meanwhile: that may have other reasons.
// * A destination that answered nothing while an attempt waited long hangs, rather than being busy: the limit falls to the floor at once.
//   In steps each would take as long as a time-out.
// * At the floor nothing is left to reduce, so the load is not the reason: an outage, or a destination that became slower. What was
//   learned before is forgotten, and the way up is quick again.

import { RefusalRate } from './refusal-rate.ts';

/** What an attempt says about the load of its destination. */
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

/** The range of a limit; whole numbers of at least 1. A floor below that is for a worker to which one place may be too much. */
export interface LimitRange {
  floor: number;
  /** Where it starts. */
  initial: number;
  ceiling: number;
}

// A window of answers is judged when it has so many, and so long after the limit changed, ms.
const WINDOW_ANSWERS = 10;
const WINDOW_MS = 250;
// Answers kept of a window for its median.
const MOST_SAMPLES = 200;
// An increase needs this part of the limit to be used.
const USED = 0.75;
// The first steps up are small: a destination that copes with no more than it gets at the start notices little of them.
const FIRST_STEP = 1.2;
const STEP = 1.5;
const SMALL_STEPS = 2;
// How far latency may rise before it counts, ms: quick destinations vary by that much.
const SLACK_MS = 2;
// Latency counts as risen at more than this multiple of what it usually is, plus ms.
const RISEN = 2;
const RISEN_SLACK_MS = 50;
// Weights of a window in the usual latency, when it is below and above.
const WEIGHT_BELOW = 0.3;
const WEIGHT_ABOVE = 0.01;
const DECREASE = 0.7;
// An attempt without an answer for so long, ms, has met no closed connection: it has waited.
const LONG_MS = 1000;
// Beyond this part a destination at the floor is down rather than busy.
const DOWN_PART = 0.25;
// Answers that tell how many are refused at the floor.
const FLOOR_ANSWERS = 40;
// Up to this part of the level that was too much, the limit returns quickly.
const SAFE_PART = 0.85;
// So much beyond the level that was too much, the limit is free again.
const BEYOND = 1.1;
// Between single steps, ms; doubled each time one of them was too much.
const PATIENCE_MS = 2000;
const MOST_PATIENCE_MS = 8000;
// And answers between them, as a multiple of the limit: a level that is too much costs about as many errors as it is high, so with a
// few steps to get there they stay below one in a hundred, however slowly answers come.
const PATIENCE_ANSWERS = 20;

/** Where the limit goes up in single steps. */
interface Caution {
  /** From here on. */
  above: number;
  /** And up to here: then what was too much is too much no more. */
  upTo: number;
  /** The median latency when it got there, ms. */
  latency: number | null;
  steppedAt: number;
  /** Outcomes since then. */
  outcomes: number;
}

/** A step up that is not judged yet. */
interface Trial {
  from: number;
  /** The median latency before it, ms. */
  latency: number;
}

export class ConcurrencyLimit {
  #range: LimitRange;
  #limit: number;
  /** Latencies of attempts sent before this say nothing of the limit. */
  #changedAt = Number.NEGATIVE_INFINITY;
  /** Refusals of attempts sent before this neither; those sent before an increase do: fewer were too many already. */
  #decreasedAt = Number.NEGATIVE_INFINITY;
  /** When the last answer came. */
  #answeredAt = Number.NEGATIVE_INFINITY;
  #samples: number[] = [];
  readonly #refusals = new RefusalRate();
  #mostUnderWay = 0;
  #windowAt = 0;
  /** The usual latency, ms. */
  #usual: number | null = null;
  #trial: Trial | null = null;
  #caution: Caution | null = null;
  /** The level that was refused last; null: none, or it was passed since. */
  #refusedAt: number | null = null;
  #patienceMs = PATIENCE_MS;
  #steps = 0;
  #hasOutcome = false;

  /** @param start where it starts, if something is known */
  constructor(range: LimitRange, start = range.initial) {
    this.#range = range;
    this.#limit = Math.min(range.initial, start);
  }

  /** A whole number in the range. */
  get value(): number {
    const { floor, ceiling } = this.#range;
    return Math.max(1, Math.min(ceiling, Math.max(floor, Math.floor(this.#limit))));
  }

  /** Whether one place is too much, and how that was seen; null: it is not. */
  get excess(): 'overloaded' | 'hanging' | null {
    if (this.#range.floor >= 1 || this.#limit >= 1) return null;
    return this.#limit > this.#range.floor ? 'overloaded' : 'hanging';
  }

  /** One place is not too much any more. */
  backToOne(now: number): void {
    this.#forget();
    this.#bePatient(1, 1, now);
    this.#set(1, now);
  }

  /** A new range, of which the floor and the ceiling count from now on. So does the start, before the first answer, which says more. */
  set range(range: LimitRange) {
    const isUntouched = this.#isUntouched;
    this.#range = range;
    this.#limit = isUntouched ? range.initial : this.value;
  }

  get #isUntouched(): boolean {
    return !this.#hasOutcome && this.#limit === this.#range.initial;
  }

  /**
   * This worker's part of what all may have has changed, and with it the range. A smaller one counts at once, also of what was learned;
   * what was sent before says nothing about it. To a larger one the limit returns as quickly as after a decrease: what a worker that
   * leaves has under way is still there.
   * @param growth of the part, as a multiple
   */
  reshare(range: LimitRange, growth: number, now: number): void {
    const isUntouched = this.#isUntouched;
    this.range = range;
    if (isUntouched) return;
    if (this.#caution !== null) {
      this.#caution.above = Math.max(1, growth * this.#caution.above);
      this.#caution.upTo *= growth;
    }
    if (this.#refusedAt !== null) this.#refusedAt = Math.max(1, growth * this.#refusedAt);
    this.#trial = null;
    if (growth < 1) this.#set(Math.min(this.#limit, Math.max(1, growth * this.#limit)), now);
    else if (!this.#hasOutcome) this.#set(Math.min(range.initial, growth * this.#limit), now);
  }

  observe(answer: Answer): void {
    const isHanging = this.#isHanging(answer);
    if (answer.kind !== 'silent') this.#answeredAt = answer.at;
    if (answer.startedAt < this.#decreasedAt && !isHanging) return;
    this.#count(answer);
    const isAtFloor = this.value <= this.#range.floor;
    if (!isAtFloor && this.#refusals.areMany) {
      if (isHanging) this.#afterSilence(answer.at);
      else this.#afterOverload(answer.at);
    } else if (answer.at - this.#windowAt < WINDOW_MS) return;
    else if (isAtFloor && this.#refusals.refused > 0) this.#judgeAtFloor(answer.at);
    else if (this.#samples.length >= WINDOW_ANSWERS) this.#judge(answer.at);
  }

  /** Whether it waited long, and nothing else was answered for half of that time. */
  #isHanging({ kind, startedAt, at }: Answer): boolean {
    const waitedMs = at - startedAt;
    return kind === 'silent' && waitedMs >= LONG_MS && at - this.#answeredAt >= waitedMs / 2;
  }

  #count({ kind, startedAt, at, underWay }: Answer): void {
    this.#hasOutcome = true;
    if (this.#refusals.outcomes === 0) this.#windowAt = at;
    if (this.#caution !== null) this.#caution.outcomes += 1;
    this.#mostUnderWay = Math.max(this.#mostUnderWay, underWay);
    this.#refusals.count(kind !== 'answered');
    if (kind === 'answered' && startedAt >= this.#changedAt && this.#samples.length < MOST_SAMPLES)
      this.#samples.push(at - startedAt);
  }

  #afterOverload(now: number): void {
    const level = Math.max(1, Math.min(this.value, this.#mostUnderWay));
    this.#refusedAt = level;
    this.#bePatient(Math.max(1, SAFE_PART * level), level, now);
    this.#set(DECREASE * level, now);
  }

  #afterSilence(now: number): void {
    this.#forget();
    this.#refusedAt = null;
    this.#set(this.#range.floor, now);
  }

  #judgeAtFloor(now: number): void {
    if (this.#refusals.outcomes < FLOOR_ANSWERS) return;
    this.#forget();
    this.#refusedAt = null;
    if (this.#refusals.refused > DOWN_PART * this.#refusals.outcomes) this.#startWindow();
    else this.#judge(now);
  }

  #judge(now: number): void {
    const latency = median(this.#samples);
    const isUsed = this.#mostUnderWay >= USED * this.value;
    const trial = this.#trial;
    this.#trial = null;
    if (trial !== null && hasRisenWith(this.#limit / trial.from, trial.latency, latency)) {
      this.#goBackTo(trial.from, now);
    } else if (this.#hasRisen(latency) && isUsed) {
      this.#afterRise(latency, now);
    } else {
      this.#learn(latency);
      if (isUsed && this.value < this.#range.ceiling) this.#increase(latency, now);
      else this.#startWindow();
    }
  }

  #hasRisen(latency: number): boolean {
    return this.#usual !== null && latency > RISEN * this.#usual + RISEN_SLACK_MS;
  }

  /** Not below the start: latency varies for other reasons too, and a machine that is short of CPU makes every answer late. */
  #afterRise(latency: number, now: number): void {
    const least = Math.min(this.value, this.#range.initial);
    if (this.value <= least) {
      this.#forget();
      this.#usual = latency;
      this.#startWindow();
    } else {
      // What it copes with when it is quick again is not known.
      this.#caution = null;
      this.#bePatient(SAFE_PART * this.value, SAFE_PART * this.value, now);
      const part = (RISEN * (this.#usual ?? latency) + RISEN_SLACK_MS) / latency;
      this.#set(Math.max(least, this.#limit * Math.max(DECREASE, part)), now);
    }
  }

  #learn(latency: number): void {
    const usual = this.#usual ?? latency;
    this.#usual = usual + (latency < usual ? WEIGHT_BELOW : WEIGHT_ABOVE) * (latency - usual);
  }

  #increase(latency: number, now: number): void {
    const refusedAt = this.#refusedAt;
    if (this.#caution === null && refusedAt !== null) {
      if (this.#limit > BEYOND * refusedAt) this.#refusedAt = null;
      else this.#bePatient(Math.max(1, SAFE_PART * refusedAt), refusedAt, now);
    }
    const caution = this.#caution;
    if (caution !== null && this.#limit >= caution.above) {
      this.#increaseCarefully(caution, latency, now);
    } else {
      const step = this.#steps < SMALL_STEPS ? FIRST_STEP : STEP;
      const next = Math.max(this.#limit + 1, this.#limit * step);
      this.#steps += 1;
      this.#trial = { from: this.#limit, latency };
      this.#set(caution === null ? next : Math.min(next, caution.above), now);
    }
  }

  #increaseCarefully(caution: Caution, latency: number, now: number): void {
    caution.latency ??= latency;
    const isBeyond = this.#limit > caution.upTo;
    if (isBeyond && hasRisenWith(this.#limit / caution.above, caution.latency, latency)) {
      this.#goBackTo(caution.above, now);
    } else if (isBeyond) {
      this.#forget();
      this.#startWindow();
    } else if (now - caution.steppedAt >= this.#patienceMs && caution.outcomes >= PATIENCE_ANSWERS * this.#limit) {
      caution.steppedAt = now;
      caution.outcomes = 0;
      this.#set(this.#limit + 1, now);
    } else {
      this.#startWindow();
    }
  }

  /** More brought nothing. */
  #goBackTo(limit: number, now: number): void {
    this.#bePatient(limit, limit, now);
    this.#set(limit, now);
  }

  /** @param level what was too much; when it is so for another time, single steps become more seldom */
  #bePatient(above: number, level: number, now: number): void {
    const again = this.#caution !== null && level <= this.#caution.upTo;
    this.#patienceMs = again ? Math.min(MOST_PATIENCE_MS, 2 * this.#patienceMs) : PATIENCE_MS;
    this.#caution = { above, upTo: BEYOND * level, latency: null, steppedAt: now, outcomes: 0 };
    this.#trial = null;
  }

  #forget(): void {
    this.#caution = null;
    this.#trial = null;
    this.#patienceMs = PATIENCE_MS;
    this.#steps = 0;
  }

  #set(limit: number, now: number): void {
    const { floor, ceiling } = this.#range;
    if (limit < this.#limit) this.#decreasedAt = now;
    this.#limit = Math.min(ceiling, Math.max(floor, limit));
    this.#changedAt = now;
    this.#startWindow();
  }

  #startWindow(): void {
    this.#samples = [];
    this.#refusals.startWindow();
    this.#mostUnderWay = 0;
  }
}

/** Whether latency took half of what the limit grew by, or more. */
function hasRisenWith(growth: number, before: number, after: number): boolean {
  return after > before * (1 + (growth - 1) / 2) + SLACK_MS;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

// Whether a destination refuses more attempts than it usually does: some refuse one in a hundred whatever is under way, which says
// nothing of their load.

// Two refusals say nothing, nor do a few among many,
const LONE_REFUSALS = 2;
const FEW = 0.02;
// nor as many as there usually are among so many outcomes and four standard deviations more (of a Poisson distribution). Usual is what
// the last thousands of outcomes had, at most a tenth.
const DEVIATIONS = 4;
const USUAL_OUTCOMES = 2000;
const MOST_USUAL = 0.1;

/** Counts the outcomes of attempts at one destination, in windows. */
export class RefusalRate {
  /** Of this window. */
  outcomes = 0;
  refused = 0;
  #usual = 0;
  /** Of `#usual`: what is refused now says nothing of what is usual. */
  #usualAtStart = 0;

  count(isRefusal: boolean): void {
    this.outcomes += 1;
    if (isRefusal) this.refused += 1;
    this.#usual += ((isRefusal ? 1 : 0) - this.#usual) / USUAL_OUTCOMES;
  }

  /** Whether there are more than chance explains. */
  get areMany(): boolean {
    const usual = this.#usualAtStart * this.outcomes;
    const explained = usual + DEVIATIONS * Math.sqrt(usual) + LONE_REFUSALS;
    return this.refused > Math.max(explained, FEW * this.outcomes);
  }

  startWindow(): void {
    this.outcomes = 0;
    this.refused = 0;
    this.#usualAtStart = Math.min(MOST_USUAL, this.#usual);
  }
}

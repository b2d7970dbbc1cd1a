// Asking a server on behalf of probes, so that no number of probes can burden it.

/** So long a finding holds, ms: less than the usual balancers leave between two probes. */
const KEPT_MS = 500;

/** One question at a time, however many want to know; its finding holds for a moment. */
export class CachedProbe {
  readonly #ask: () => Promise<string | null>;
  #found: { problem: string | null; at: number } | undefined;
  #underWay: Promise<void> | undefined;

  /** @param ask resolves with what is wrong, null when nothing is; rejects when the server cannot be reached. It must end by itself */
  constructor(ask: () => Promise<string | null>) {
    this.#ask = ask;
  }

  /** What the last answered question found; undefined before there was one. */
  get last(): string | null | undefined {
    return this.#found?.problem;
  }

  /** @returns what is wrong, null when nothing is, undefined when there was no answer within `waitMs` */
  async within(waitMs: number): Promise<string | null | undefined> {
    if (this.#found && performance.now() - this.#found.at < KEPT_MS) return this.#found.problem;
    this.#underWay ??= this.#look();
    const { promise: tooLate, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => resolve(undefined), waitMs);
    const answered = this.#underWay.then(() => this.last);
    return Promise.race([answered, tooLate]).finally(() => clearTimeout(timer));
  }

  async #look(): Promise<void> {
    const problem = await this.#ask().catch(() => 'cannot be reached');
    this.#found = { problem, at: performance.now() };
    this.#underWay = undefined;
  }
}

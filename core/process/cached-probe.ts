// Checks a server for the probes and caches the result, so that many probes do not load it.

/** How long a result is valid, ms: less than the usual probe interval of load balancers. */
const KEPT_MS = 500;
/** What is wrong with a server that could not be asked. */
export const UNREACHABLE = 'cannot be reached';

/** One check at a time for all callers; its result is cached for a moment. */
export class CachedProbe {
  readonly #ask: () => Promise<string | null>;
  #found: { problem: string | null; at: number } | undefined;
  #underWay: Promise<void> | undefined;

  /** @param ask resolves with what is wrong, or null; rejects when the server cannot be reached. It must have its own timeout */
  constructor(ask: () => Promise<string | null>) {
    this.#ask = ask;
  }

  /** Result of the last completed check; undefined before the first. */
  get last(): string | null | undefined {
    return this.#found?.problem;
  }

  /** @returns what is wrong, null when nothing is, undefined without an answer within `waitMs` */
  async within(waitMs: number): Promise<string | null | undefined> {
    if (this.#found && performance.now() - this.#found.at < KEPT_MS) return this.#found.problem;
    this.#underWay ??= this.#look();
    const { promise: tooLate, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => resolve(undefined), waitMs);
    const answered = this.#underWay.then(() => this.last);
    return Promise.race([answered, tooLate]).finally(() => clearTimeout(timer));
  }

  async #look(): Promise<void> {
    const problem = await this.#ask().catch(() => UNREACHABLE);
    this.#found = { problem, at: performance.now() };
    this.#underWay = undefined;
  }
}

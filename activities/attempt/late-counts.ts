// Attempts whose circuits are locked: they are counted when the lock is gone, so that a circuit opens although somebody held its row.
// All of them share one connection, and nobody else's results wait for them.
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { throttled } from '../../core/process/throttled-log.ts';
import type { CountedAttempt } from '../../db/circuits/circuits.ts';
import { isLockTimeout } from '../../db/connections/database-errors.ts';

/** As `countAttempts`. */
type Count = (attempts: CountedAttempt[]) => Promise<Set<string>>;

interface Waiting {
  attempts: CountedAttempt[];
  /** When it is given up, ms of the clock. */
  until: number;
  settle: (blocked: Set<string>) => void;
}

const PAUSE_MS = 250;
const FOR_MS = 60_000;
// Of one statement.
const MOST_GROUPS = 100;

export class LateCounts {
  readonly #count: Count;
  readonly #log: Log;
  readonly #waiting: Waiting[] = [];

  constructor(count: Count, log: Log) {
    this.#count = count;
    this.#log = log;
  }

  /**
   * Counts attempts when their circuits are free, at most a minute later.
   * @returns the routes that now admit only a probe, or nothing; none when they were not counted, which the log says
   */
  add(attempts: CountedAttempt[]): Promise<Set<string>> {
    return new Promise((settle) => {
      this.#waiting.push({ attempts, until: performance.now() + FOR_MS, settle });
      if (this.#waiting.length === 1) void this.#countAll();
    });
  }

  async #countAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await pause(PAUSE_MS);
      const group = this.#waiting.slice(0, MOST_GROUPS);
      try {
        const blocked = await this.#count(group.flatMap(({ attempts }) => attempts));
        this.#settle(group, blocked);
      } catch (error) {
        const now = performance.now();
        const lost = isLockTimeout(error) ? group.filter(({ until }) => until < now) : group;
        if (lost.length > 0) this.#giveUp(lost, error);
      }
    }
  }

  #giveUp(lost: Waiting[], error: unknown): void {
    const attempts = lost.reduce((sum, each) => sum + each.attempts.length, 0);
    throttled(this.#log).warn({ attempts, cause: causeOf(error) }, 'attempts were not counted in their circuits');
    this.#settle(lost, new Set());
  }

  #settle(group: Waiting[], blocked: Set<string>): void {
    const settled = new Set(group);
    this.#waiting.splice(0, this.#waiting.length, ...this.#waiting.filter((each) => !settled.has(each)));
    for (const { settle } of group) settle(blocked);
  }
}

// Counts failures and successes of this process in memory, and stores them about once a second
// (docs/guide/issues-and-alerts.md).
import { IssueCounts } from '../../core/messages/issue-counts.ts';
import type { IssueFailure, IssueSink, IssueSubject } from '../../core/messages/issues.ts';
import type { Log } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { every, type PollLoop } from '../../core/process/poll-loop.ts';
import { isTransientDatabaseError } from '../connections/database-errors.ts';
import type { Queryable } from '../connections/pool.ts';
import { recordIssues, organizationsWithIssues } from './record-issues.ts';

const EVERY_MS = 1000;

export interface IssueDeps {
  pool: Queryable;
  log: Log;
}

export class CountedIssues implements IssueSink {
  readonly #deps: IssueDeps;
  readonly #loop: PollLoop;
  #pending = new IssueCounts();
  #failing = false;

  constructor(deps: IssueDeps) {
    this.#deps = deps;
    this.#loop = every(
      EVERY_MS,
      () => this.#store(),
      (error) => this.#lost(error),
    );
  }

  /** Another object each time they are stored: what has been told since then need not be told again. */
  get window(): object {
    return this.#pending;
  }

  failed(subject: IssueSubject, failure: IssueFailure): void {
    this.#pending.failed(subject, failure);
  }

  worked(subject: IssueSubject): void {
    this.#pending.worked(subject);
  }

  async close(): Promise<void> {
    await this.#loop.stop();
    await this.#store().catch((error: unknown) => this.#lost(error));
  }

  #lost(error: unknown): void {
    const lost = 'failed to store issue counts; the counts since the last update are lost';
    this.#deps.log.error({ cause: causeOf(error) }, lost);
  }

  // Failure policy: while PostgreSQL is away they are kept for the next time, as far as there is room. What may have
  // been stored is stored again, because a success that is lost would leave its issue open: so the failures of a second
  // may count twice. What PostgreSQL refuses would be refused again, and is dropped.
  async #store(): Promise<void> {
    const taken = this.#pending;
    const uncounted = taken.takeUncounted();
    if (uncounted > 0) this.#deps.log.warn({ count: uncounted }, 'some failures were not counted in their issues');
    if (taken.isEmpty) return;
    this.#pending = new IssueCounts();
    try {
      await this.#record(taken);
      this.#failing = false;
    } catch (error) {
      if (!isTransientDatabaseError(error)) throw error;
      this.#pending.precede(taken);
      if (!this.#failing) this.#deps.log.warn({ cause: causeOf(error) }, 'failed to store issue counts; trying again');
      this.#failing = true;
    }
  }

  // Of what works, nothing is stored while nothing of its organization fails.
  async #record(counts: IssueCounts): Promise<void> {
    const { pool } = this.#deps;
    const { failing, working } = counts.subjects();
    const organizations = [...new Set(working.map(({ organizationId }) => organizationId))];
    const withIssues = organizations.length === 0 ? new Set() : await organizationsWithIssues(pool, organizations);
    const recovering = working.filter(({ organizationId }) => withIssues.has(organizationId));
    if (failing.length + recovering.length > 0) await recordIssues(pool, failing, recovering);
  }
}

// The share of the event loop that an organization's filters and schemas may take. What costs more goes to threads.
import { LRUCache } from 'lru-cache';
import { Budget } from './budget.ts';

/** One event's work on the loop while its organization keeps to its share, in ms. */
const EVENT_MS = 20;
/** The same when the share is used up: about what receiving an event costs anyway. */
const SMALL_EVENT_MS = 0.5;
/** An organization's share of each second, in ms. */
const MS_PER_SECOND = 100;
/** What it may have used up at once. */
const MAX_DEBT_MS = 50;
const MAX_ORGANIZATIONS = 10_000;

interface Debt {
  ms: number;
  at: number;
}

export class EventLoopShare {
  readonly #debts = new LRUCache<string, Debt>({ max: MAX_ORGANIZATIONS });

  /** What the next event of an organization may cost on the loop. @param now in ms, of a clock that only moves forward */
  budgetOf(organizationId: string, now: number): Budget {
    return new Budget(this.#debtOf(organizationId, now) < MAX_DEBT_MS ? EVENT_MS : SMALL_EVENT_MS);
  }

  /** Notes what an event has cost. */
  used(organizationId: string, ms: number, now: number): void {
    this.#debts.set(organizationId, { ms: this.#debtOf(organizationId, now) + ms, at: now });
  }

  #debtOf(organizationId: string, now: number): number {
    const debt = this.#debts.get(organizationId);
    return debt === undefined ? 0 : Math.max(0, debt.ms - ((now - debt.at) * MS_PER_SECOND) / 1000);
  }
}

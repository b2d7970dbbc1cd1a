// How much processor time the transforms of an organization may still take in this process: so much in a minute, and what they use
// beyond is earned again first. Times are ms; those of `now` are of a monotonic clock.
import { LRUCache } from 'lru-cache';

const MINUTE_MS = 60_000;
const MAX_ORGANIZATIONS = 10_000;
const LONGEST_WAIT_MS = 10 * MINUTE_MS;

interface Account {
  /** What is left of the budget; below 0 what must be earned first. */
  left: number;
  /** When that was. */
  at: number;
}

export class Budgets {
  readonly #accounts = new LRUCache<string, Account>({ max: MAX_ORGANIZATIONS });

  /** How long work of an organization must wait, 0: it may run now. What must wait is told different times, so that it does not all come back at once. */
  waitMs(organizationId: string, perMinute: number, now: number): number {
    const left = this.#leftOf(organizationId, perMinute, now);
    if (left > 0) return 0;
    const earnedMs = ((1 - left) * MINUTE_MS) / Math.max(1, perMinute);
    return Math.ceil(Math.min(earnedMs * (1 + Math.random()), LONGEST_WAIT_MS));
  }

  charge(organizationId: string, ms: number, perMinute: number, now: number): void {
    const left = this.#leftOf(organizationId, perMinute, now) - ms;
    this.#accounts.set(organizationId, { left, at: now });
  }

  #leftOf(organizationId: string, perMinute: number, now: number): number {
    const account = this.#accounts.get(organizationId);
    if (account === undefined || perMinute === Number.POSITIVE_INFINITY) return perMinute;
    return Math.min(perMinute, account.left + ((now - account.at) * perMinute) / MINUTE_MS);
  }
}

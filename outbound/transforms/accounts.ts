// What organizations take of the threads: how much of their budget is left, and whether their code is slow.
// Times are ms of a monotonic clock.
import { LRUCache } from 'lru-cache';

const MINUTE_MS = 60_000;
const MAX_ACCOUNTS = 10_000;
// Code of a tenant that takes longer than others can wait for without notice.
const SLOW_MS = 50;
// Of the average; about the last eight runs count.
const WEIGHT = 1 / 8;
const LONGEST_WAIT_MS = 10 * MINUTE_MS;

interface Account {
  /** What is left of the budget, ms; below 0 what must be earned first. */
  left: number;
  /** When that was. */
  at: number;
  averageMs: number;
  /** When the last of those that were told to wait may come back. */
  promised: number;
}

export class Accounts {
  readonly #accounts = new LRUCache<string, Account>({ max: MAX_ACCOUNTS });
  /** Who used the threads last, and who did before that. */
  #latest = { organizationId: '', at: Number.NEGATIVE_INFINITY };
  #other = this.#latest;

  /**
   * How long an organization must wait until it may run code again, 0: it may now. Those that must wait are told different times,
   * as far apart as its runs are long, so that they do not all come back at once.
   * @param perMinute ms that it may use in a minute; as much is left at first
   */
  waitMs(organizationId: string, perMinute: number, now: number): number {
    if (perMinute === Number.POSITIVE_INFINITY) return 0;
    const account = this.#earned(organizationId, perMinute, now);
    if (account.left > 0) return 0;
    const perMs = Math.max(1, perMinute) / MINUTE_MS;
    const free = now + (1 - account.left) / perMs;
    account.promised = Math.min(Math.max(account.promised + account.averageMs / perMs, free), now + LONGEST_WAIT_MS);
    return Math.ceil(account.promised - now);
  }

  /** Notes a run. @returns whether the budget is used up by it */
  charge(organizationId: string, ms: number, perMinute: number, now: number): boolean {
    const account = this.#earned(organizationId, perMinute, now);
    account.averageMs += (ms - account.averageMs) * WEIGHT;
    if (perMinute === Number.POSITIVE_INFINITY) return false;
    account.left -= ms;
    return account.left <= 0;
  }

  /** Notes that an organization wants to run code. */
  seen(organizationId: string, now: number): void {
    if (this.#latest.organizationId !== organizationId) this.#other = this.#latest;
    this.#latest = { organizationId, at: now };
  }

  /** Whether an organization must leave a thread to others: its code is slow, and there have been others in the last minute. */
  leavesOne(organizationId: string, now: number): boolean {
    const other = this.#latest.organizationId === organizationId ? this.#other : this.#latest;
    return now - other.at < MINUTE_MS && (this.#accounts.peek(organizationId)?.averageMs ?? 0) > SLOW_MS;
  }

  #earned(organizationId: string, perMinute: number, now: number): Account {
    const known = this.#accounts.get(organizationId);
    const account = known ?? { left: perMinute, at: now, averageMs: 0, promised: 0 };
    if (!known) this.#accounts.set(organizationId, account);
    const earned = perMinute === Number.POSITIVE_INFINITY ? perMinute : ((now - account.at) * perMinute) / MINUTE_MS;
    account.left = Math.min(perMinute, account.left + earned);
    account.at = now;
    return account;
  }
}

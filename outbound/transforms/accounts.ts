// What organizations take of the threads: how much of their budget is left, and whether their code is slow.
// Times are ms of a monotonic clock.
//
// What an organization has to do beyond its budget comes back later, and something new may have come by then, again and again. So
// an account remembers the oldest of what it sent away: these are told to come back first, and a part of the budget is kept for
// each of them that is older than what comes. The oldest of all is never sent away once anything is left, so each has its turn when
// all that is older has had it.
import { LRUCache } from 'lru-cache';
import type { Turn } from './types.ts';

const MINUTE_MS = 60_000;
const MAX_ACCOUNTS = 10_000;
// Code of a tenant that takes longer than others can wait for without notice.
const SLOW_MS = 50;
// Of the average; about the last eight runs count.
const WEIGHT = 1 / 8;
const LONGEST_WAIT_MS = 10 * MINUTE_MS;
const MOST_EXPECTED = 32;
// What does not come back this long after its time was cancelled, or went to another process.
const LATE_MS = 10_000;

/** Work that was told to come back. */
interface Expected {
  /** Since when it has been waiting (Turn). */
  since: number;
  until: number;
}

interface Account {
  /** What is left of the budget, ms; below 0 what must be earned first. */
  left: number;
  /** When that was. */
  at: number;
  averageMs: number;
  /** When the last of those that were told to wait may come back. */
  promised: number;
  /** The oldest of these, the oldest first. */
  expected: Expected[];
}

export class Accounts {
  readonly #accounts = new LRUCache<string, Account>({ max: MAX_ACCOUNTS });
  /** Who used the threads last, and who did before that. */
  #latest = { organizationId: '', at: Number.NEGATIVE_INFINITY };
  #other = this.#latest;

  /**
   * How long work of an organization must wait until it may run, 0: it may now. What must wait is told different times, as far
   * apart as its runs are long, so that it does not all come back at once.
   * @param perMinute ms that the organization may use in a minute; as much is left at first
   */
  waitMs({ organizationId, since }: Turn, perMinute: number, now: number): number {
    if (perMinute === Number.POSITIVE_INFINITY) return 0;
    const account = this.#earned(organizationId, perMinute, now);
    account.expected = account.expected.filter((each) => each.since !== since && each.until + LATE_MS > now);
    const older = since === undefined ? 0 : account.expected.filter((each) => each.since < since).length;
    // Of a budget that is as full as it can be, nothing is kept: waiting any longer would only waste it.
    const kept = Math.min(older * account.averageMs, perMinute - 1);
    if (account.left > kept) return 0;
    const perMs = Math.max(1, perMinute) / MINUTE_MS;
    const free = now + Math.min((1 + kept - account.left) / perMs, LONGEST_WAIT_MS);
    if (since !== undefined && older < MOST_EXPECTED) {
      account.expected.splice(older, 0, { since, until: free });
      account.expected.length = Math.min(account.expected.length, MOST_EXPECTED);
      account.promised = Math.max(account.promised, free);
      return Math.ceil(free - now);
    }
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
    const account = known ?? { left: perMinute, at: now, averageMs: 0, promised: 0, expected: [] };
    if (!known) this.#accounts.set(organizationId, account);
    const earned = perMinute === Number.POSITIVE_INFINITY ? perMinute : ((now - account.at) * perMinute) / MINUTE_MS;
    account.left = Math.min(perMinute, account.left + earned);
    account.at = now;
    return account;
  }
}

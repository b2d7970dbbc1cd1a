// What one organization has used of its limits, as this process knows it: what PostgreSQL has counted of all processes, and what
// this one has accepted since. Requests look at memory only.
// Rules: LIMIT-03 to LIMIT-06.
import { type Limits, limitsOf } from '../../core/fairness/limits.ts';
import { TokenBucket } from '../../core/fairness/token-bucket.ts';
import type { Use } from '../../db/organizations/usage.ts';
import { type ApiError, limitExceeded, UNTIL_CHANGED_SECONDS } from '../request/errors.ts';

/** What became of a webhook; null: nothing. */
export type Ended = 'stored' | 'duplicate' | null;

interface Count {
  events: number;
  bytes: number;
}

export class OrganizationUse {
  readonly organizationId: string;
  #limits: Limits;
  #configVersion: number;
  readonly #bucket: TokenBucket;
  /** Stored by this process since it started. */
  readonly #stored: Count = { events: 0, bytes: 0 };
  readonly #underWay: Count = { events: 0, bytes: 0 };
  /** The month that PostgreSQL was asked about last, as 2026-11; null before that. */
  #month: string | null = null;
  /** Of `stored`, what came before `month` was first asked about: PostgreSQL has counted it. */
  #before = 0;
  /** Events of the month that are not `stored` since `before`: of other processes, and what is older. It only grows. */
  #others = 0;
  /** What is stored, and how many bytes this process had stored before it asked. */
  #known = { storedBytes: 0, ownBytes: 0 };
  /** Of the last request, by the monotonic clock. */
  usedAt = performance.now();

  constructor(organizationId: string, configVersion: number, limits: Limits) {
    this.organizationId = organizationId;
    this.#configVersion = configVersion;
    this.#limits = limits;
    this.#bucket = new TokenBucket(limits.eventsPerSecond, performance.now());
  }

  get limits(): Limits {
    return this.#limits;
  }

  /** Whether PostgreSQL has been asked. */
  get isKnown(): boolean {
    return this.#month !== null;
  }

  /** Whether nothing is lost when it is forgotten. */
  get isIdle(): boolean {
    return this.#underWay.events === 0;
  }

  /** Takes newer limits over. */
  learn(configVersion: number, limits: Limits): void {
    if (configVersion <= this.#configVersion) return;
    this.#configVersion = configVersion;
    this.#limits = limits;
    this.#bucket.limit(limits.eventsPerSecond, performance.now());
  }

  /** How many bytes this process has stored: to be read before PostgreSQL is asked. */
  get ownBytes(): number {
    return this.#stored.bytes;
  }

  /**
   * Takes over what PostgreSQL has counted. It may lack, or have already, what this process stored while it was asked: so of the
   * events only what must be of others counts, which is exact while there are none; and such bytes count twice until the next time.
   */
  know(use: Use, ownBytes: number): void {
    this.learn(use.configVersion, limitsOf(use.plan, use.limits));
    this.#known = { storedBytes: use.storedBytes, ownBytes };
    const month = use.today.slice(0, '2026-11'.length);
    if (month !== this.#month) {
      this.#month = month;
      this.#before = this.#stored.events;
      this.#others = Math.max(0, use.monthEvents - this.#underWay.events);
      return;
    }
    const more = use.monthEvents - this.#monthEvents;
    if (more <= 0) return;
    this.#others += more;
    this.#bucket.drain(more, performance.now());
  }

  get #monthEvents(): number {
    return this.#others + this.#stored.events - this.#before + this.#underWay.events;
  }

  /**
   * Whether one more webhook may be stored; counts nothing.
   * @param bytes of its payload, as far as it is known
   * @throws ApiError 429
   */
  requireRoom(bytes: number): void {
    this.usedAt = performance.now();
    const refusal = this.#refusal(bytes);
    if (refusal) throw refusal;
  }

  /** Counts a webhook that is about to be stored. @returns to be told what became of it @throws ApiError 429 */
  take(bytes: number): (ended: Ended) => void {
    this.requireRoom(bytes);
    this.#bucket.take(this.usedAt);
    this.#underWay.events += 1;
    this.#underWay.bytes += bytes;
    return (ended) => {
      this.#underWay.events -= 1;
      this.#underWay.bytes -= bytes;
      if (ended === null) this.#bucket.giveBack();
      if (ended !== 'stored') return;
      this.#stored.events += 1;
      this.#stored.bytes += bytes;
    };
  }

  #refusal(bytes: number): ApiError | null {
    const { eventsPerSecond, eventsPerMonth, storedBytes } = this.#limits;
    if (!this.#bucket.has(this.usedAt)) {
      const what = `This organization may receive ${eventsPerSecond} webhooks a second; nothing was stored, send it again`;
      return limitExceeded('eventsPerSecond', what, this.#bucket.waitMs(this.usedAt) / 1000);
    }
    if (Number.isFinite(eventsPerMonth) && this.#monthEvents >= eventsPerMonth) {
      const what = `This organization may receive ${eventsPerMonth} webhooks a month, and has received them; nothing was stored`;
      return limitExceeded('eventsPerMonth', what, secondsLeftInMonth());
    }
    const stored = this.#known.storedBytes + this.#stored.bytes - this.#known.ownBytes + this.#underWay.bytes;
    if (Number.isFinite(storedBytes) && stored + bytes > storedBytes) {
      const what = `This organization may store ${storedBytes} bytes of payloads, which this webhook would exceed; nothing was stored`;
      return limitExceeded('storedBytes', what, UNTIL_CHANGED_SECONDS);
    }
    return null;
  }
}

function secondsLeftInMonth(): number {
  const now = new Date();
  return (Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - now.getTime()) / 1000;
}

// What one organization has used of its limits, as this process knows it: what PostgreSQL has counted of all processes, and what
// this one has accepted since. Requests look at memory only.
// Rules: LIMIT-03 to LIMIT-06.
import type { Reservation } from '../../core/reservations.ts';
import { type Limits, limitsOf } from '../../core/limits.ts';
import { TokenBucket } from '../../core/token-bucket.ts';
import type { Accepted, Use } from '../../db/organizations/usage.ts';
import type { ApiError } from '../errors.ts';
import { limitExceeded, UNTIL_CHANGED_SECONDS } from '../limits.ts';

const DAY_MS = 86_400_000;

interface Count {
  events: number;
  bytes: number;
}

export class OrganizationUse {
  readonly organizationId: string;
  #limits: Limits;
  #configVersion: number;
  readonly #bucket: TokenBucket;
  /** Of all processes, as last read; null before that. */
  #known: Pick<Use, 'monthEvents' | 'storedBytes' | 'today' | 'acceptedToday'> | null = null;
  /** Stored by this process and not in `known` yet: by day, in days since 1970. */
  readonly #stored = new Map<number, Count>();
  /** Of these, what is being added in PostgreSQL. */
  #adding: Count = { events: 0, bytes: 0 };
  readonly #underWay: Count = { events: 0, bytes: 0 };
  /** Added by this process since `known` was read. */
  #addedToday = 0;
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
    return this.#known !== null;
  }

  /** Whether nothing is lost when it is forgotten. */
  get isIdle(): boolean {
    return this.#stored.size === 0 && this.#adding.events === 0 && this.#underWay.events === 0;
  }

  /** Takes newer limits over. */
  learn(configVersion: number, limits: Limits): void {
    if (configVersion <= this.#configVersion) return;
    this.#configVersion = configVersion;
    this.#limits = limits;
    this.#bucket.limit(limits.eventsPerSecond, performance.now());
  }

  /** Takes over what PostgreSQL has counted, and what other processes have accepted meanwhile. */
  know(use: Use): void {
    this.learn(use.configVersion, limitsOf(use.plan, use.limits));
    const before = this.#known;
    if (before?.today === use.today) {
      const ofOthers = use.acceptedToday - before.acceptedToday - this.#addedToday;
      this.#bucket.drain(Math.max(0, ofOthers), performance.now());
    }
    this.#known = use;
    this.#addedToday = 0;
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

  /** Counts a webhook that is about to be stored. @throws ApiError 429 */
  take(receivedAt: Date, bytes: number): Reservation {
    this.requireRoom(bytes);
    this.#bucket.take(this.usedAt);
    this.#underWay.events += 1;
    this.#underWay.bytes += bytes;
    const release = (asksAgain: boolean) => {
      if (asksAgain) this.#bucket.giveBack();
      this.#underWay.events -= 1;
      this.#underWay.bytes -= bytes;
    };
    return {
      release,
      keep: () => {
        release(false);
        this.#count(Math.floor(receivedAt.getTime() / DAY_MS), { events: 1, bytes });
      },
    };
  }

  #refusal(bytes: number): ApiError | null {
    const { eventsPerSecond, eventsPerMonth, storedBytes } = this.#limits;
    if (!this.#bucket.has(this.usedAt)) {
      const what = `This organization may receive ${eventsPerSecond} webhooks a second; nothing was stored, send it again`;
      return limitExceeded('eventsPerSecond', what, this.#bucket.waitMs(this.usedAt) / 1000);
    }
    if (Number.isFinite(eventsPerMonth) && this.#total('events', this.#known?.monthEvents) >= eventsPerMonth) {
      const what = `This organization may receive ${eventsPerMonth} webhooks a month, and has received them; nothing was stored`;
      return limitExceeded('eventsPerMonth', what, secondsLeftInMonth());
    }
    if (Number.isFinite(storedBytes) && this.#total('bytes', this.#known?.storedBytes) + bytes > storedBytes) {
      const what = `This organization may store ${storedBytes} bytes of payloads, which this webhook would exceed; nothing was stored`;
      return limitExceeded('storedBytes', what, UNTIL_CHANGED_SECONDS);
    }
    return null;
  }

  #total(of: keyof Count, known = 0): number {
    let total = known + this.#adding[of] + this.#underWay[of];
    for (const count of this.#stored.values()) total += count[of];
    return total;
  }

  #count(day: number, { events, bytes }: Count): void {
    const count = this.#stored.get(day) ?? { events: 0, bytes: 0 };
    count.events += events;
    count.bytes += bytes;
    this.#stored.set(day, count);
  }

  /** What has been stored since the last call; `added` or `notAdded` must follow. */
  startAdding(): Accepted[] {
    const accepted = Array.from(this.#stored, ([day, count]) => ({
      organizationId: this.organizationId,
      day: new Date(day * DAY_MS).toISOString().slice(0, 10),
      ...count,
    }));
    this.#stored.clear();
    for (const { events, bytes } of accepted) {
      this.#adding.events += events;
      this.#adding.bytes += bytes;
    }
    return accepted;
  }

  /** PostgreSQL has counted it. */
  added(): void {
    const { events, bytes } = this.#adding;
    this.#adding = { events: 0, bytes: 0 };
    this.#addedToday += events;
    if (!this.#known) return;
    this.#known = {
      ...this.#known,
      monthEvents: this.#known.monthEvents + events,
      storedBytes: this.#known.storedBytes + bytes,
    };
  }

  /** It was not counted: it is added next time. */
  notAdded(accepted: Accepted[]): void {
    this.#adding = { events: 0, bytes: 0 };
    for (const { day, events, bytes } of accepted) this.#count(Date.parse(day) / DAY_MS, { events, bytes });
  }
}

function secondsLeftInMonth(): number {
  const now = new Date();
  return (Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - now.getTime()) / 1000;
}

// How many failed deliveries wait in Temporal to be replayed. An outage can fail a million of them: beyond a limit the workflow of one
// that fails ends at once, and a replay by the API starts a new one, as it always does.
import type { Client } from '@temporalio/client';
import type { Log } from '../core/log.ts';

export interface ParkingLimits {
  total: number;
  perOrganization: number;
}

export interface Parking {
  /** Whether one more failed delivery of an organization may wait. It is counted when it may. */
  admit(organizationId: string): boolean;
  /** Resolves when no count is under way. */
  stop(): Promise<void>;
}

const WAITING = 'WorkflowType = "delivery" and DeliveryStatus = "failed" and ExecutionStatus = "Running"';
const COUNT_EVERY_MS = 10_000;
// An admission that no count has shown counts by itself for at least so many of these times.
const UNSEEN_COUNTS = 12;
const DEADLINE_MS = 10_000;
// Sooner than that once so much of an organization's limit was given away: the limits are exceeded by no more than about that.
const COUNT_AFTER_SHARE = 0.1;
const LEAST_PAUSE_MS = 500;
// Those in which the most fail; one more question to Temporal for each.
const ORGANIZATIONS_PER_COUNT = 10;

/**
 * What is known of a number: what was counted last, and what has been admitted and is not seen yet. Temporal shows a workflow as
 * waiting after a while, a long one in an outage. So an admission counts by itself until a count has risen by it, or for so long
 * that it must have been seen: others that ended meanwhile have hidden it then.
 */
class Estimate {
  readonly #unseenMs: number;
  #counted = 0;
  #earlier = 0;
  #lately = 0;
  #since = performance.now();
  /** Since the last count. */
  admitted = 0;
  asked = 0;

  /** @param unseenMs how long an admission counts at least that is not seen, ms */
  constructor(unseenMs: number) {
    this.#unseenMs = unseenMs;
  }

  get value(): number {
    return this.#counted + this.#earlier + this.#lately;
  }

  admit(): void {
    this.#lately += 1;
    this.admitted += 1;
  }

  /** A count begins. Should it fail, the value stays as it is. */
  begin(): void {
    this.admitted = 0;
    this.asked = 0;
  }

  counted(count: number): void {
    this.#see(count - this.#counted);
    this.#forget();
    this.#counted = count;
  }

  countedAtMost(count: number): void {
    this.#counted = Math.min(this.#counted + this.#forget(), count);
  }

  /** The count has risen: so many admissions are seen, the earliest first. */
  #see(rise: number): void {
    const ofEarlier = Math.max(0, Math.min(rise, this.#earlier));
    this.#earlier -= ofEarlier;
    this.#lately -= Math.max(0, Math.min(rise - ofEarlier, this.#lately));
  }

  /** @returns how many admissions count no more by themselves: Temporal shows them by now */
  #forget(): number {
    const now = performance.now();
    if (now - this.#since < this.#unseenMs) return 0;
    const seen = this.#earlier;
    this.#earlier = this.#lately;
    this.#lately = 0;
    this.#since = now;
    return seen;
  }
}

/**
 * Keeps the limits, approximately: each worker counts in Temporal now and then, while deliveries fail, and adds what it admits itself.
 * Failure policy: while Temporal cannot be asked, what was admitted stays counted, so that too few wait rather than too many.
 */
export async function startParking(
  { client, log }: { client: Client; log: Log },
  { total: mostInAll, perOrganization }: ParkingLimits,
  countEveryMs = COUNT_EVERY_MS,
): Promise<Parking> {
  const unseenMs = UNSEEN_COUNTS * countEveryMs;
  const total = new Estimate(unseenMs);
  const organizations = new Map<string, Estimate>();
  let counting: Promise<void> | undefined;
  let countedAt = performance.now();
  let asked = true;
  let refused = 0;

  async function count(query: string): Promise<number> {
    const answer = await client.connection.withDeadline(Date.now() + DEADLINE_MS, () => client.workflow.count(query));
    return answer.count;
  }

  async function countAll(): Promise<void> {
    asked = false;
    const mostAsking = [...organizations]
      .filter(([, { asked: times }]) => times > 0)
      .toSorted(([, a], [, b]) => b.asked - a.asked)
      .slice(0, ORGANIZATIONS_PER_COUNT);
    for (const estimate of [total, ...organizations.values()]) estimate.begin();
    const inAll = await count(WAITING);
    total.counted(inAll);
    if (inAll < perOrganization) {
      // No organization can have more than all of them.
      for (const [id, estimate] of organizations) {
        estimate.countedAtMost(inAll);
        if (estimate.value === 0) organizations.delete(id);
      }
      return;
    }
    for (const [id, estimate] of mostAsking) estimate.counted(await count(`${WAITING} and OrganizationId = "${id}"`));
  }

  function countWhenDue(): void {
    const pause = performance.now() - countedAt;
    const isMuch = total.admitted >= COUNT_AFTER_SHARE * perOrganization;
    if (counting || !asked || pause < (isMuch ? LEAST_PAUSE_MS : countEveryMs)) return;
    counting = countAll()
      .catch((error: unknown) =>
        log.warn({ error: String(error) }, 'failed deliveries could not be counted in Temporal'),
      )
      .finally(() => {
        countedAt = performance.now();
        counting = undefined;
        if (refused > 0)
          log.warn({ count: refused }, 'failed deliveries do not wait in Temporal for a replay: too many do');
        refused = 0;
      });
  }

  countedAt -= countEveryMs;
  countWhenDue();
  await counting;
  const timer = setInterval(countWhenDue, LEAST_PAUSE_MS);
  timer.unref();

  return {
    admit(organizationId) {
      asked = true;
      const ofOrganization = organizations.get(organizationId) ?? new Estimate(unseenMs);
      organizations.set(organizationId, ofOrganization);
      ofOrganization.asked += 1;
      const admitted = total.value < mostInAll && ofOrganization.value < perOrganization;
      if (admitted) {
        total.admit();
        ofOrganization.admit();
      } else refused += 1;
      return admitted;
    },
    async stop() {
      clearInterval(timer);
      await counting;
    },
  };
}

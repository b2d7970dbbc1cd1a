// How many failed deliveries wait in Temporal to be replayed. An outage can fail a million of them: above a limit, the
// workflow of a failed delivery ends at once. A replay by the API then starts a new one, as always.
import { type Log, throttled } from '../core/process/log.ts';
import { causeOf } from '../core/process/log-cause.ts';
import type { InstallationClient } from '../temporal-config/client.ts';

export interface ParkingLimits {
  total: number;
  perOrganization: number;
}

export type Parking = Awaited<ReturnType<typeof startParking>>;

const WAITING = 'WorkflowType = "delivery" and DeliveryStatus = "failed" and ExecutionStatus = "Running"';
const COUNT_EVERY_MS = 10_000;
// An admission that no count has shown yet is added for at least this many intervals.
const UNSEEN_COUNTS = 12;
const DEADLINE_MS = 10_000;
// Counts sooner once this part of an organization's limit was admitted, so limits are exceeded by about this part at
// most.
const COUNT_AFTER_SHARE = 0.1;
const LEAST_PAUSE_MS = 500;
// Organizations with the most failures; each costs one more query to Temporal.
const ORGANIZATIONS_PER_COUNT = 10;

/**
 * An estimate: the last count, plus admissions that are not visible yet. Temporal shows a waiting workflow with a
 * delay, which is long in an outage. So an admission is added until the count has risen by it, or until it must be
 * visible: then workflows that ended meanwhile have hidden the rise.
 */
class Estimate {
  readonly #unseenMs: number;
  #counted = 0;
  #earlier = 0;
  #lately = 0;
  #since = performance.now();
  admitted = 0;
  asked = 0;

  /** @param unseenMs how long an invisible admission is added at least, ms */
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

  /** A count begins. If it fails, the value does not change. */
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

  #see(rise: number): void {
    const ofEarlier = Math.max(0, Math.min(rise, this.#earlier));
    this.#earlier -= ofEarlier;
    this.#lately -= Math.max(0, Math.min(rise - ofEarlier, this.#lately));
  }

  /** @returns how many admissions are no longer added, because Temporal shows them */
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
 * Keeps the limits, approximately: while deliveries fail, each worker counts in Temporal periodically, and adds its own
 * admissions. Failure policy: while Temporal is unreachable, admissions stay counted, so that too few deliveries wait
 * rather than too many. While the namespace lacks search attributes none waits: nobody could count or find it.
 */
export async function startParking(
  { client, log }: { client: InstallationClient; log: Log },
  { total: mostInAll, perOrganization }: ParkingLimits,
  countEveryMs = COUNT_EVERY_MS,
) {
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

  const waiting = `${WAITING} and TaskQueue = "${client.workflowQueue}"`;

  async function countAll(): Promise<void> {
    if (client.attributes.missing) return;
    asked = false;
    const mostAsking = [...organizations]
      .filter(([, { asked: times }]) => times > 0)
      .toSorted(([, a], [, b]) => b.asked - a.asked)
      .slice(0, ORGANIZATIONS_PER_COUNT);
    for (const estimate of [total, ...organizations.values()]) estimate.begin();
    const inAll = await count(waiting);
    total.counted(inAll);
    if (inAll < perOrganization) {
      // No organization has more than the total.
      for (const [id, estimate] of organizations) {
        estimate.countedAtMost(inAll);
        if (estimate.value === 0) organizations.delete(id);
      }
      return;
    }
    for (const [id, estimate] of mostAsking) estimate.counted(await count(`${waiting} and OrganizationId = "${id}"`));
  }

  function countWhenDue(): void {
    const pause = performance.now() - countedAt;
    const isMuch = total.admitted >= COUNT_AFTER_SHARE * perOrganization;
    if (counting || !asked || pause < (isMuch ? LEAST_PAUSE_MS : countEveryMs)) return;
    counting = countAll()
      .catch((error: unknown) =>
        throttled(log).warn({ cause: causeOf(error) }, 'failed to count failed deliveries in Temporal'),
      )
      .finally(() => {
        countedAt = performance.now();
        counting = undefined;
        if (refused > 0)
          log.warn(
            { count: refused },
            'some failed deliveries will not wait in Temporal for a replay: too many are already waiting',
          );
        refused = 0;
      });
  }

  countedAt -= countEveryMs;
  countWhenDue();
  await counting;
  const timer = setInterval(countWhenDue, LEAST_PAUSE_MS).unref();

  return {
    admit(organizationId: string): boolean {
      if (client.attributes.missing) return false;
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
    async stop(): Promise<void> {
      clearInterval(timer);
      await counting;
    },
  };
}

// The lane `adaptive`: whether a workflow makes a first attempt, which costs many times as much processor time, or the
// relay. A delivery becomes a workflow while
// - the first attempts of its organization, in whichever lane, are few enough for all to be workflows: so nothing
//   swings between the lanes. Organizations share the rate by the rule of fair-queue.ts: what is beyond the share of
//   one does not count for the others;
// - there is a slot for it (workflow-permits.ts), held until its first attempt begins. When no slot is left for
//   anybody, or Temporal refuses a start, no workflow is started for a pause, which doubles if the next one follows
//   soon.
import { LRUCache } from 'lru-cache';
import { FairQueue, type Leave } from '../fairness/fair-queue.ts';
import type { WorkflowPermits } from '../fairness/workflow-permits.ts';

/**
 * First attempts in a second that may be workflows, for each processor. One organization may have three quarters, 15:
 * they take about half of the processor.
 */
export const WORKFLOWS_PER_PROCESSOR = 20;
/**
 * A rate is that of so long a time: in a stream that is too fast, the first ones are workflows, and slower than all
 * others.
 */
const WINDOW_MS = 500;
/** How long the relay makes all first attempts after a time with too many: bursts come in groups. */
const AFTER_BURST_MS = 2000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** A pause that was followed by so long a time without another one was long enough. */
const STEADY_MS = 10_000;
const MOST_REMEMBERED = 10_000;

export const REASONS_FOR_RELAY = ['rate', 'behind', 'refused', 'share'] as const;
export type ReasonForRelay = (typeof REASONS_FOR_RELAY)[number];

interface LaneRuleOptions {
  permits: Pick<WorkflowPermits, 'take' | 'isFull'>;
  perSecond: number;
  /** Of a monotonic clock, ms. */
  now: () => number;
}

export class LaneRule {
  readonly #options: LaneRuleOptions;
  readonly #rate: Rate;
  /** Until when the relay makes the first attempts of an organization of which too many came. */
  readonly #burstsUntil = new LRUCache<string, number>({ max: MOST_REMEMBERED });
  /** Until when it makes those of all. */
  #allUntil = Number.NEGATIVE_INFINITY;
  /** Until when it makes those of any organization. */
  #anyUntil = Number.NEGATIVE_INFINITY;
  #pause = { reason: 'behind' as ReasonForRelay, ms: 0, until: Number.NEGATIVE_INFINITY };

  constructor(options: LaneRuleOptions) {
    this.#options = options;
    this.#rate = new Rate(options.perSecond);
  }

  /**
   * Why the relay makes first attempts now, those of all organizations or of one that has too many; null: all may be
   * workflows.
   */
  get pressure(): ReasonForRelay | null {
    const now = this.#options.now();
    if (now < this.#pause.until) return this.#pause.reason;
    if (now < this.#anyUntil) return 'rate';
    return this.#options.permits.isFull ? 'behind' : null;
  }

  /**
   * Counts a first attempt that is due. Those that are claimed together are counted before any is chosen: a burst is
   * known at once.
   */
  comes(organizationId: string): void {
    const now = this.#options.now();
    if (this.#rate.count(organizationId, now)) return;
    this.#anyUntil = now + AFTER_BURST_MS;
    this.#burstsUntil.set(organizationId, this.#anyUntil);
    if (this.#rate.isFull) this.#allUntil = this.#anyUntil;
  }

  /**
   * Of one that was counted.
   * @returns the slot of its workflow, to be given back when its attempt begins; or why it gets none
   */
  choose(organizationId: string): Leave | ReasonForRelay {
    const now = this.#options.now();
    if (now < this.#pause.until) return this.#pause.reason;
    if (now < Math.max(this.#allUntil, this.#burstsUntil.get(organizationId) ?? 0)) return 'rate';
    const leave = this.#options.permits.take(organizationId);
    if (leave !== null) return leave;
    if (!this.#options.permits.isFull) return 'share';
    this.pause('behind');
    return 'behind';
  }

  pause(reason: ReasonForRelay): void {
    const now = this.#options.now();
    const { ms, until } = this.#pause;
    if (now < until) return;
    const next = now - until < STEADY_MS ? Math.min(LONGEST_PAUSE_MS, 2 * ms) : FIRST_PAUSE_MS;
    this.#pause = { reason, ms: next, until: now + next };
  }
}

/** What organizations may do in WINDOW_MS together: whatever is counted holds a slot for so long. */
class Rate {
  readonly #slots: FairQueue;
  /** In the order of their times. */
  readonly #counted: { organizationId: string; at: number }[] = [];

  constructor(perSecond: number) {
    this.#slots = new FairQueue(Math.ceil((perSecond * WINDOW_MS) / 1000));
  }

  get isFull(): boolean {
    return this.#slots.isFull;
  }

  /** @returns false when the organization has its share; then it is not counted */
  count(organizationId: string, now: number): boolean {
    for (let first = this.#counted[0]; first && now - first.at >= WINDOW_MS; first = this.#counted[0]) {
      this.#slots.release(first.organizationId);
      this.#counted.shift();
    }
    if (!this.#slots.hold(organizationId)) return false;
    this.#counted.push({ organizationId, at: now });
    return true;
  }
}

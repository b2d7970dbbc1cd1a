// The lane `adaptive`: whether a workflow makes a first attempt, which costs many times as much processor time, or the relay. A
// delivery becomes a workflow while
// - the worker's first attempts, in whichever lane, are few enough for all to be workflows: so nothing swings between the lanes;
// - those of its organization are at most half as many, unless it is the only one. More do not count for the others;
// - there is a place for it (workflow-turns.ts), held until its first attempt begins. When no place is left for anybody, or Temporal
//   refuses a start, no workflow is started for a pause, which doubles if the next one follows soon.
import { LRUCache } from 'lru-cache';
import type { Leave } from './fair-queue.ts';
import type { WorkflowTurns } from './workflow-turns.ts';

/** First attempts in a second that may all be workflows, for each processor: they take about half of it. */
export const WORKFLOWS_PER_PROCESSOR = 15;
/** A rate is that of so long a time: in a stream that is too fast, the first ones are workflows, and slower than all others. */
const WINDOW_MS = 500;
/** How long the relay makes all first attempts after a time with too many: bursts come in groups. */
const AFTER_BURST_MS = 2000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** A pause that was followed by so long a time without another one was long enough. */
const STEADY_MS = 10_000;
const MOST_REMEMBERED = 10_000;

/** Why the relay makes a first attempt: too many come, workflows fall behind, Temporal refuses them, or its organization has its share. */
export const REASONS_FOR_RELAY = ['rate', 'behind', 'refused', 'share'] as const;
export type ReasonForRelay = (typeof REASONS_FOR_RELAY)[number];

interface LaneRuleOptions {
  turns: Pick<WorkflowTurns, 'take' | 'isFull'>;
  perSecond: number;
  /** Whether there is only one organization. */
  alone: () => boolean;
  /** Of a monotonic clock, ms. */
  now: () => number;
}

export class LaneRule {
  readonly #options: LaneRuleOptions;
  readonly #all: Rate;
  readonly #ofOrganization = new LRUCache<string, Rate>({ max: MOST_REMEMBERED });
  #burstUntil = Number.NEGATIVE_INFINITY;
  #pause = { reason: 'behind' as ReasonForRelay, ms: 0, until: Number.NEGATIVE_INFINITY };

  constructor(options: LaneRuleOptions) {
    this.#options = options;
    this.#all = new Rate(options.perSecond);
  }

  /** Why the relay would make the first attempt of any organization now; null: a workflow may. */
  get pressure(): ReasonForRelay | null {
    const now = this.#options.now();
    if (now < this.#pause.until) return this.#pause.reason;
    if (now < this.#burstUntil) return 'rate';
    return this.#options.turns.isFull ? 'behind' : null;
  }

  /** Counts a first attempt that is due. Those that are claimed together are counted before any is chosen: a burst is known at once. */
  comes(organizationId: string): void {
    const now = this.#options.now();
    const own = this.#rateOf(organizationId);
    own?.add(now);
    if (own?.isOver(now)) return;
    this.#all.add(now);
    if (this.#all.isOver(now)) this.#burstUntil = now + AFTER_BURST_MS;
  }

  /** Of one that was counted. @returns the place of its workflow, to be given back when its attempt begins; or why it gets none */
  choose(organizationId: string): Leave | ReasonForRelay {
    const now = this.#options.now();
    if (this.#rateOf(organizationId)?.isOver(now)) return 'share';
    if (now < Math.max(this.#pause.until, this.#burstUntil)) return this.pressure ?? 'rate';
    const leave = this.#options.turns.take(organizationId);
    if (leave !== null) return leave;
    if (!this.#options.turns.isFull) return 'share';
    this.pause('behind');
    return 'behind';
  }

  /** No workflows for a while. */
  pause(reason: ReasonForRelay): void {
    const now = this.#options.now();
    const { ms, until } = this.#pause;
    if (now < until) return;
    const next = now - until < STEADY_MS ? Math.min(LONGEST_PAUSE_MS, 2 * ms) : FIRST_PAUSE_MS;
    this.#pause = { reason, ms: next, until: now + next };
  }

  /** Undefined: it is the only organization. */
  #rateOf(organizationId: string): Rate | undefined {
    if (this.#options.alone()) return undefined;
    const own = this.#ofOrganization.get(organizationId) ?? new Rate(Math.ceil(this.#options.perSecond / 2));
    this.#ofOrganization.set(organizationId, own);
    return own;
  }
}

/** Remembers one time more than may lie within WINDOW_MS. */
class Rate {
  readonly #times: number[];
  #oldest = 0;

  constructor(perSecond: number) {
    const length = Math.ceil((perSecond * WINDOW_MS) / 1000) + 1;
    this.#times = Array.from({ length }, () => Number.NEGATIVE_INFINITY);
  }

  add(now: number): void {
    this.#times[this.#oldest] = now;
    this.#oldest = (this.#oldest + 1) % this.#times.length;
  }

  isOver(now: number): boolean {
    return now - (this.#times[this.#oldest] as number) < WINDOW_MS;
  }
}

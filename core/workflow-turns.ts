// What one organization may ask of Temporal by way of this worker: workflows for what the relay began itself, retries that workflows
// make, and signals. Temporal, its database and the threads of workflows cost many times what the attempt itself costs, so a flood of
// deliveries that fail would take the processor from everybody.
//
// Each organization has a token bucket: some at once, the rest evenly. Organizations that have to wait share what there is
// by the rule of fair-share.ts: n of them get 1 / (n + 1) each, so there is always room for one that does not wait. Each
// is served in order of arrival. While no other organization has anything to deliver, there are more turns, but not as many as the
// machine could do: whoever comes next must not find it full. An organization that is the only one is not paced at all.
import { LRUCache } from 'lru-cache';

/**
 * What this worker may ask of Temporal in a second for organizations that have to wait, for each processor of its machine. With twice
 * as many, another organization's deliveries took more than twice as long (`npm run bench -- neighbours --attack retries`).
 */
export const PER_PROCESSOR = 8;
/** The same as a multiple, while nobody else has anything to deliver: about half of what the processors can do. */
const WITHOUT_OTHERS = 4;
/** How many an organization gets at once. A handful of webhooks often comes at once, and many destinations get one. */
const AT_ONCE = 20;
/** How many of these first attempts leave. */
const KEPT_FOR_RETRIES = 10;
// An organization that had something to deliver so recently may have more at any moment.
const ACTIVE_MS = 60_000;
const LOOK_EVERY_MS = 25;
/** How long something waits for its turn. Then it is done without one, which counts all the same. */
const LONGEST_WAIT_MS = 30_000;
// Organizations whose pace is remembered; one that is forgotten may have some at once again.
const MOST_REMEMBERED = 10_000;

/** `none`: not in time; `ended`: the worker ends. */
export type Turn = 'turn' | 'none' | 'ended';

interface WorkflowTurnsOptions {
  /** For all that wait together. */
  perSecond: number;
  /** Whether there is only one organization. */
  alone: () => boolean;
  /** A monotonic clock in ms. */
  now?: () => number;
}

export class WorkflowTurns {
  readonly #perSecond: number;
  readonly #alone: () => boolean;
  readonly #now: () => number;
  /** By organization: the turns that it had then; negative when it did more than it may. */
  readonly #left = new LRUCache<string, { turns: number; at: number }>({ max: MOST_REMEMBERED });
  /** By organization, in order of arrival; none is empty. */
  readonly #waiting = new Map<string, Set<(turn: Turn) => void>>();
  /** The two organizations that were seen last, the latest first. */
  #seen: { id: string; at: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor({ perSecond, alone, now = () => performance.now() }: WorkflowTurnsOptions) {
    this.#perSecond = perSecond;
    this.#alone = alone;
    this.#now = now;
  }

  /** How many wait. */
  get waiting(): number {
    let count = 0;
    for (const { size } of this.#waiting.values()) count += size;
    return count;
  }

  /** An organization has something to deliver. */
  seen(organizationId: string): void {
    const at = this.#now();
    const [latest] = this.#seen;
    if (latest?.id === organizationId) latest.at = at;
    else this.#seen = [{ id: organizationId, at }, ...(latest ? [latest] : [])];
  }

  /** Takes a turn, if the organization has one now and nothing of it waits. */
  take(organizationId: string): boolean {
    // Retries are something to deliver, too.
    this.seen(organizationId);
    return !this.#waiting.has(organizationId) && this.#pass(organizationId);
  }

  /**
   * Whether a first attempt may be a workflow; else the relay makes it. It takes a turn, but leaves some to retries and signals, which
   * have to wait for theirs. While the workers have room to spare, it may be one without a turn, too.
   */
  mayBegin(organizationId: string, hasRoomToSpare: boolean): boolean {
    this.seen(organizationId);
    if (this.#waiting.has(organizationId)) return false;
    if (!this.#hasOthers(organizationId)) return true;
    if (this.#leftOf(organizationId) < 1 + KEPT_FOR_RETRIES) return hasRoomToSpare;
    this.#count(organizationId);
    return true;
  }

  /** Counts what was done without a turn. */
  spend(organizationId: string): void {
    if (!this.#alone()) this.#count(organizationId);
  }

  /** Waits for a turn, or until that has taken too long. @returns false when the worker ends */
  async inTurn(organizationId: string): Promise<boolean> {
    const turn = await this.wait(organizationId, LONGEST_WAIT_MS);
    if (turn === 'none') this.spend(organizationId);
    return turn !== 'ended';
  }

  /** Waits for a turn, at most so long. */
  wait(organizationId: string, forMs: number): Promise<Turn> {
    if (this.take(organizationId)) return Promise.resolve('turn');
    if (this.#isEnded) return Promise.resolve('ended');
    if (forMs <= 0) return Promise.resolve('none');
    return new Promise((resolve) => {
      const timeout = setTimeout(() => settle('none'), forMs);
      const settle = (turn: Turn) => {
        clearTimeout(timeout);
        this.#remove(organizationId, settle);
        resolve(turn);
      };
      const own = this.#waiting.get(organizationId);
      if (own) own.add(settle);
      else this.#waiting.set(organizationId, new Set([settle]));
      this.#timer ??= setInterval(() => this.look(), LOOK_EVERY_MS);
    });
  }

  /** Gives those that wait the turns that there are. */
  look(): void {
    for (const [organizationId, own] of [...this.#waiting]) {
      for (const settle of [...own]) {
        if (!this.#pass(organizationId)) break;
        settle('turn');
      }
    }
  }

  /** Nothing waits any longer. */
  end(): void {
    this.#isEnded = true;
    for (const own of [...this.#waiting.values()]) for (const settle of [...own]) settle('ended');
  }

  #remove(organizationId: string, settle: (turn: Turn) => void): void {
    const own = this.#waiting.get(organizationId);
    own?.delete(settle);
    if (own?.size === 0) this.#waiting.delete(organizationId);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #pass(organizationId: string): boolean {
    if (this.#alone()) return true;
    if (this.#leftOf(organizationId) < 1) return false;
    this.#count(organizationId);
    return true;
  }

  #count(organizationId: string): void {
    const turns = Math.max(-AT_ONCE, this.#leftOf(organizationId) - 1);
    this.#left.set(organizationId, { turns, at: this.#now() });
  }

  #leftOf(organizationId: string): number {
    const { turns, at } = this.#left.get(organizationId) ?? { turns: AT_ONCE, at: 0 };
    return Math.min(AT_ONCE, turns + ((this.#now() - at) / 1000) * this.#paceOf(organizationId));
  }

  /** Turns a second. */
  #paceOf(organizationId: string): number {
    if (!this.#hasOthers(organizationId)) return this.#perSecond * WITHOUT_OTHERS;
    const waiting = this.#waiting.size + (this.#waiting.has(organizationId) ? 0 : 1);
    return this.#perSecond / (waiting + 1);
  }

  /** Whether another organization has something to deliver. */
  #hasOthers(organizationId: string): boolean {
    if (this.#alone()) return false;
    const since = this.#now() - ACTIVE_MS;
    return this.#seen.some(({ id, at }) => id !== organizationId && at > since);
  }
}

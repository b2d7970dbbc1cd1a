// What organizations may ask of Temporal by way of this worker: workflows, the retries that they make, and signals.
// Temporal, its database and the threads of workflows cost many times what an attempt itself costs, so a flood of
// deliveries that fail would take the processor from everybody.
//
// Each takes a permit of a fair queue (fair-queue.ts). A first attempt holds it until it begins (lane-rule.ts) and does
// not wait for it. Everything else waits, and holds its slot for a second: so slots are a rate, too.
//
// The only organization of an installation does not wait. What is shared here is the processor, of which other
// organizations use more by their webhooks and first attempts, which need no turn. So an organization that floods must
// leave most of the processor, even if nobody waits here. An organization with nobody beside it would pay for that with
// its own retries after an outage.
import { FairQueue, type Leave } from './fair-queue.ts';

/**
 * For each processor of the machine. With twice as many, another organization's deliveries took more than twice as long
 * (`npm run bench -- neighbours --attack retries`).
 */
export const PERMITS_PER_PROCESSOR = 8;
const HELD_MS = 1000;
/** How long something waits for its turn. Then it is done without one. */
const LONGEST_WAIT_MS = 30_000;

interface WorkflowPermitsOptions {
  permits: number;
  /** Whether there is only one organization: it does not wait. */
  alone: () => boolean;
  /** How long everything but a first attempt holds its slot, ms. */
  heldMs?: number;
}

export class WorkflowPermits {
  readonly #queue: FairQueue;
  readonly #alone: () => boolean;
  readonly #heldMs: number;
  #taken = 0;

  constructor({ permits, alone, heldMs = HELD_MS }: WorkflowPermitsOptions) {
    // Not three quarters, for the same reason.
    this.#queue = new FairQueue(permits, 1);
    this.#alone = alone;
    this.#heldMs = heldMs;
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  /** Whether no organization has a slot left. */
  get isFull(): boolean {
    return this.#queue.isFull;
  }

  /** A slot for the workflow of a first attempt, until it is given back. @returns null: its organization has none */
  take(organizationId: string): Leave | null {
    // One that is alone shares with nobody: each of its slots is counted apart.
    return this.#queue.takeNow(this.#alone() ? `alone ${++this.#taken}` : organizationId);
  }

  /** @returns false when it is not its organization's turn */
  tryAcquire(organizationId: string): boolean {
    if (this.#alone()) return true;
    const leave = this.#queue.takeNow(organizationId);
    if (leave !== null) this.#hold(leave);
    return leave !== null;
  }

  /** Waits for a turn, or until that has taken too long. @returns false when the worker ends */
  async acquire(organizationId: string): Promise<boolean> {
    if (this.#queue.isClosed) return false;
    if (this.tryAcquire(organizationId)) return true;
    const leave = await this.#queue.take(organizationId, { waitMs: LONGEST_WAIT_MS });
    if (leave !== null) this.#hold(leave);
    return !this.#queue.isClosed;
  }

  end(): void {
    this.#queue.close();
  }

  #hold(leave: Leave): void {
    setTimeout(leave, this.#heldMs).unref();
  }
}

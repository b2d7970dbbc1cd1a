// How a claimed delivery starts: its workflow is started or woken, or the relay makes the first attempt itself (express
// lane).
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Parking } from '../../activities/parking.ts';
import type { ResumedDelivery } from '../../core/delivery/delivery.ts';
import type { DestinationConcurrency } from '../../core/delivery/destination-concurrency.ts';
import type { WorkflowPermits } from '../../core/fairness/workflow-permits.ts';
import { throttled } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import type { OutboxRow, StartPolicy } from '../../db/hot-path/claim.ts';
import { wakeRelays } from '../../db/hot-path/outbox-listener.ts';
import type { InstallationClient } from '../../temporal-config/client.ts';
import { lookUp } from '../../temporal-config/workflows.ts';
import type { FirstAttempt } from '../../workflows/signals-and-queries.ts';
import { createExpress, type Express, type ExpressDeps } from './attempt.ts';
import type { Choice, LaneChoice } from './lane-choice.ts';
import type { BackgroundTasks } from './loop.ts';
import { type OrderedDeps, startInOrder } from './ordered.ts';
import type { Repairs } from './overdue.ts';
import { type Started, startDelivery } from './workflow-start.ts';

// A delivery whose start or signal failed keeps its slot for this time: claimed again at once, it would fail again.
const ERROR_REST_MS = 1000;
const MOST_REMEMBERED = 10_000;

export interface StartsDeps
  extends Pick<ExpressDeps, 'pool' | 'attempt' | 'drainMs' | 'log'>,
    Pick<OrderedDeps, 'hotPool' | 'inFlight' | 'owns' | 'policiesOf'> {
  /** Called with a delivery that no longer needs its slot. */
  freeSlot: (deliveryId: string) => void;
  background: BackgroundTasks;
  client: InstallationClient;
  repairs: Repairs;
  concurrency: DestinationConcurrency;
  replayWindowMs: number;
  parking: Parking;
  lanes: LaneChoice;
  workflowPermits: WorkflowPermits;
}

export class Starts {
  readonly #deps: StartsDeps;
  readonly #express: Express;
  // Temporal may have a workflow whose start failed, or get it while the start is under way: until then the overdue
  // check does not know it, and the relay must not make the attempt beside it.
  readonly #starting = new Set<string>();
  readonly #failedStarts = new LRUCache<string, true>({ max: MOST_REMEMBERED });

  constructor(deps: StartsDeps) {
    this.#deps = deps;
    this.#express = createExpress({
      ...deps,
      inTurn: (row) => this.#inTurn(row),
      startWorkflow: async (row, policy, first) => (await this.#startWorkflow(row, policy, { first })) !== 'before',
      lookAfter: (row) => deps.repairs.lookAfterQueued(deps, row),
      done: deps.freeSlot,
    });
  }

  come(rows: OutboxRow[], policyOf: (row: OutboxRow) => StartPolicy): void {
    for (const row of rows) this.#deps.lanes.comes(row, policyOf(row).lane);
  }

  /** Starts the heads of ordering keys, whatever the lane: the relay makes their first attempts (ordered.ts). */
  startInOrder(rows: OutboxRow[], policyOf: (row: OutboxRow) => StartPolicy): void {
    const wakeOthers = () => void wakeRelays(this.#deps.hotPool).catch(() => undefined);
    startInOrder({ ...this.#deps, attempt: this.#express.run, wakeOthers }, rows, policyOf);
  }

  /** Starts a delivery that has no workflow; it keeps its slot until its first result is recorded. */
  async start(row: OutboxRow, policy: StartPolicy): Promise<void> {
    const choice = this.#choose(row, policy);
    if (choice === undefined) return this.#deps.background.run(this.#restBeforeNextTry(row));
    // However slow its destination: an attempt under way needs a socket and a slot, and slots are limited
    // (in-flight.ts).
    if (choice.lane === 'express') void this.#express.run(row, policy);
    // While Temporal does not answer, the relay continues with the other lane.
    else if (choice.adapts) this.#deps.background.run(this.#startWatched(row, policy, choice));
    else await this.#startWatched(row, policy, choice);
  }

  /** Starts the workflow of a delivery that continues from its recorded attempts. Never rejects. */
  async resume(row: OutboxRow, policy: StartPolicy, point: ResumedDelivery | undefined): Promise<void> {
    const start = async (resumed: ResumedDelivery) =>
      (await this.#startWorkflow(row, policy, { resumed })) !== 'before';
    try {
      if (point === undefined || (await this.#inTurn(row)))
        await this.#deps.repairs.resumeDelivery(this.#deps, row, point, start);
      this.#deps.freeSlot(row.deliveryId);
    } catch (error) {
      await this.#restAfter(error, row);
    }
  }

  /**
   * Wakes the workflow of a delivery whose turn has come. Without a result it is signalled again after a while. Never
   * rejects.
   */
  async wakeWorkflow(row: OutboxRow): Promise<void> {
    try {
      const isSignalled = (await this.#inTurn(row)) && (await this.#deps.repairs.signalTurn(this.#deps, row));
      if (!isSignalled) this.#deps.freeSlot(row.deliveryId);
    } catch (error) {
      await this.#restAfter(error, row);
    }
  }

  isRunning(deliveryId: string): boolean {
    return this.#express.isRunning(deliveryId) || this.#starting.has(deliveryId);
  }

  drain(): Promise<void> {
    return this.#express.drain();
  }

  #startWorkflow(
    row: OutboxRow,
    policy: StartPolicy,
    from: { first?: FirstAttempt; resumed?: ResumedDelivery } = {},
  ): Promise<Started> {
    const { client, concurrency, parking, replayWindowMs } = this.#deps;
    const waitsForReplay = from.first?.status !== 'failed' || parking.admit(row.organizationId);
    return startDelivery(client, row, policy, {
      quick: concurrency.isQuick(row.destinationId),
      replayWindowMs: waitsForReplay ? replayWindowMs : 0,
      ...from,
    });
  }

  /** The overdue check would take one that waits here for late. @returns false when the relay ends */
  async #inTurn({ deliveryId, organizationId }: OutboxRow): Promise<boolean> {
    this.#starting.add(deliveryId);
    try {
      return await this.#deps.workflowPermits.acquire(organizationId);
    } finally {
      this.#starting.delete(deliveryId);
    }
  }

  async #startWatched(row: OutboxRow, policy: StartPolicy, choice: Choice): Promise<void> {
    const { deliveryId } = row;
    this.#starting.add(deliveryId);
    try {
      const quick = this.#deps.concurrency.isQuick(row.destinationId);
      const started = await this.#startWorkflow(row, policy);
      // The attempt of any other workflow may begin in another process.
      if (!quick || started !== 'here') this.#deps.lanes.begun(deliveryId);
      const isOwn = this.#failedStarts.delete(deliveryId);
      if (started === 'before' && choice.adapts && !isOwn && (await this.#isInterrupted(deliveryId)))
        void this.#express.run(row, policy);
    } catch (error) {
      this.#deps.lanes.begun(deliveryId);
      this.#failedStarts.set(deliveryId, true);
      if (choice.adapts) {
        this.#deps.lanes.refused();
        return await this.#restAfter(error, row);
      }
      // There is no other lane that the relay could continue with. Does not wake the relay: it is about to rest because
      // of this error.
      if (this.#deps.inFlight.holds(row)) this.#deps.inFlight.delete(deliveryId);
      throw error;
    } finally {
      this.#starting.delete(deliveryId);
    }
  }

  /**
   * Another worker has started its workflow, and no longer holds the delivery: it has died. If it was making the
   * attempt as a local activity, Temporal would notice that ten seconds after its begin.
   */
  async #isInterrupted(deliveryId: string): Promise<boolean> {
    const known = await lookUp(this.#deps.client, deliveryId);
    return known.state === 'running' && known.shows === undefined && !known.hasActivity;
  }

  /** Only this one waits: first attempts of the lane `express` continue without Temporal. */
  async #restAfter(error: unknown, row: OutboxRow): Promise<void> {
    const { log } = this.#deps;
    const facts = { deliveryId: row.deliveryId, cause: causeOf(error) };
    throttled(log).warn(facts, 'failed to reach the workflow; trying again');
    await this.#restBeforeNextTry(row);
  }

  async #restBeforeNextTry(row: OutboxRow): Promise<void> {
    const { inFlight, freeSlot } = this.#deps;
    await delay(ERROR_REST_MS);
    if (inFlight.holds(row)) freeSlot(row.deliveryId);
  }

  /** Undefined: only its workflow may make the attempt, and there is no room for one now. */
  #choose(row: OutboxRow, policy: StartPolicy): Choice | undefined {
    const { lanes, inFlight } = this.#deps;
    const hasSlot = inFlight.hasRoomForWorkflow(row.organizationId);
    const chosen = lanes.choose(row, policy.lane, hasSlot);
    // Its start has failed, so Temporal may have its workflow.
    const isLeft = chosen.lane === 'express' && this.#failedStarts.has(row.deliveryId);
    const choice: Choice = isLeft ? { lane: 'workflow', adapts: true } : chosen;
    if (choice.lane === 'express' || !choice.adapts) return choice;
    if (!hasSlot) return undefined;
    inFlight.startsAsWorkflow(row.deliveryId, () => lanes.begun(row.deliveryId));
    return choice;
  }
}

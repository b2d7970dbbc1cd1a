// How a claimed delivery starts: its workflow is started or woken, or the relay makes the first attempt itself (express lane).
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Parking } from '../activities/parking.ts';
import type { AttemptOutcome, AttemptRequest } from '../activities/types.ts';
import type { Log } from '../core/log.ts';
import { causeOf } from '../core/log-cause.ts';
import { throttled } from '../core/throttled-log.ts';
import type { OutboxRow } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/connections/pool.ts';
import type { InstallationClient } from '../temporal-config/client.ts';
import { lookAfterQueued } from '../temporal-config/open-deliveries.ts';
import type { FirstAttempt } from '../workflows/messages.ts';
import type { ResumedDelivery } from '../core/resumed-delivery.ts';
import type { WorkflowTurns } from '../core/workflow-turns.ts';
import type { BackgroundTasks } from './background-tasks.ts';
import { createExpress } from './express.ts';
import type { InFlight } from './in-flight.ts';
import type { Choice, LaneChoice } from './lane-choice.ts';
import type { Latencies } from './latencies.ts';
import { resumeDelivery } from './resume.ts';
import { type Started, startDelivery } from './start-delivery.ts';
import type { StartPolicy } from './start-policies.ts';
import { signalTurn } from './turns.ts';

// A delivery whose start or signal failed keeps its place for this time: claimed again at once, it would fail again.
const ERROR_REST_MS = 1000;
// Maximum number of remembered failed starts; the least recently used are dropped.
const MOST_REMEMBERED = 10_000;

export interface StartsDeps {
  inFlight: InFlight;
  /** Called with a delivery that no longer needs its place. */
  freePlace: (deliveryId: string) => void;
  background: BackgroundTasks;
  /** Runs the rare commands. */
  pool: Pool;
  client: InstallationClient;
  latencies: Latencies;
  replayWindowMs: number;
  parking: Parking;
  lanes: LaneChoice;
  /** Of organizations, for starts and signals of workflows. */
  workflowTurns: WorkflowTurns;
  /** Makes and records a first attempt in the express lane. */
  attempt: (request: AttemptRequest) => Promise<AttemptOutcome>;
  /** How long running attempts of the express lane get at the end, ms. */
  drainMs: number;
  log: Log;
}

export interface Starts {
  /** Starts a delivery that has no workflow; it keeps its place until its first result is recorded. */
  start(row: OutboxRow, policy: StartPolicy): Promise<void>;
  /** Starts the workflow of a delivery that continues from its recorded attempts. Never rejects. */
  resume(row: OutboxRow, policy: StartPolicy, point: ResumedDelivery | undefined): Promise<void>;
  /** Wakes the workflow of a delivery whose turn has come. Without a result it is signalled again after a while. Never rejects. */
  wakeWorkflow(row: OutboxRow): Promise<void>;
  /** Whether this process makes the first attempt of a delivery itself at the moment, or asks Temporal to start its workflow. */
  isRunning(deliveryId: string): boolean;
  /** Resolves when no attempt is running, or on timeout. */
  drain(): Promise<void>;
}

export function createStarts(deps: StartsDeps): Starts {
  const { freePlace, workflowTurns } = deps;
  const express = createExpress({
    ...deps,
    inTurn,
    startWorkflow: async (row, policy, first) => (await startWorkflow(row, policy, { first })) !== 'before',
    lookAfter: (row) => lookAfterQueued(deps, row),
    done: freePlace,
  });

  function startWorkflow(
    row: OutboxRow,
    policy: StartPolicy,
    from: { first?: FirstAttempt; resumed?: ResumedDelivery } = {},
  ): Promise<Started> {
    const waitsForReplay = from.first?.status !== 'failed' || deps.parking.admit(row.organizationId);
    return startDelivery(deps.client, row, policy, {
      quick: deps.latencies.isQuick(row.destinationId),
      replayWindowMs: waitsForReplay ? deps.replayWindowMs : 0,
      ...from,
    });
  }

  // Temporal may have a workflow whose start failed, or get it while the start is under way: until then the overdue check does not
  // know it, and the relay must not make the attempt beside it.
  const starting = new Set<string>();
  const failedStarts = new LRUCache<string, true>({ max: MOST_REMEMBERED });

  /** The overdue check would take one that waits here for late. @returns false when the relay ends */
  async function inTurn({ deliveryId, organizationId }: OutboxRow): Promise<boolean> {
    starting.add(deliveryId);
    deps.inFlight.awaitsTurn(deliveryId);
    try {
      return await workflowTurns.inTurn(organizationId);
    } finally {
      starting.delete(deliveryId);
    }
  }

  async function startWatched(row: OutboxRow, policy: StartPolicy, choice: Choice): Promise<void> {
    const { deliveryId } = row;
    starting.add(deliveryId);
    try {
      await deps.lanes.watch(deliveryId, choice, () => startWorkflow(row, policy));
      failedStarts.delete(deliveryId);
    } catch (error) {
      failedStarts.set(deliveryId, true);
      if (choice.adapts) return await restAfter(error, row);
      // There is no other lane that the relay could continue with. Does not wake the relay: it is about to rest because of this error.
      if (deps.inFlight.holds(row)) deps.inFlight.delete(deliveryId);
      throw error;
    } finally {
      starting.delete(deliveryId);
    }
  }

  async function wakeWorkflow(row: OutboxRow): Promise<void> {
    try {
      if (!(await inTurn(row)) || !(await signalTurn(deps, row))) freePlace(row.deliveryId);
    } catch (error) {
      await restAfter(error, row);
    }
  }

  /** Only this one waits: first attempts of the lane `express` continue without Temporal. */
  async function restAfter(error: unknown, row: OutboxRow): Promise<void> {
    const facts = { deliveryId: row.deliveryId, cause: causeOf(error) };
    throttled(deps.log).warn(facts, 'its workflow could not be reached; it is tried again');
    await delay(ERROR_REST_MS);
    if (deps.inFlight.holds(row)) freePlace(row.deliveryId);
  }

  function choose({ deliveryId, organizationId }: OutboxRow, policy: StartPolicy): Choice {
    const choice = deps.lanes.choose(policy.lane);
    if (failedStarts.has(deliveryId)) return { lane: 'workflow', adapts: choice.adapts || choice.lane === 'express' };
    if (choice.lane === 'express' || !choice.adapts) return choice;
    const mayStart = deps.inFlight.hasRoomForWorkflow(organizationId) && workflowTurns.take(organizationId);
    if (!mayStart) return { ...choice, lane: 'express' };
    deps.inFlight.startsAsWorkflow(deliveryId);
    return choice;
  }

  return {
    async start(row, policy) {
      workflowTurns.seen(row.organizationId);
      const choice = choose(row, policy);
      // However slow its destination: an attempt under way needs a socket and a place, and places are limited (in-flight.ts).
      if (choice.lane === 'express') express.run(row, policy);
      // While Temporal does not answer, the relay continues with the other lane.
      else if (choice.adapts) deps.background.run(startWatched(row, policy, choice));
      else await startWatched(row, policy, choice);
    },
    async resume(row, policy, point) {
      const start = async (resumed: ResumedDelivery) => (await startWorkflow(row, policy, { resumed })) !== 'before';
      try {
        if (point === undefined || (await inTurn(row))) await resumeDelivery(deps, row, point, start);
        freePlace(row.deliveryId);
      } catch (error) {
        await restAfter(error, row);
      }
    },
    wakeWorkflow,
    isRunning: (deliveryId) => express.isRunning(deliveryId) || starting.has(deliveryId),
    drain: express.drain,
  };
}

// A Temporal worker with the real workflows and activities that follow a script: what the delivery workflow does with
// every outcome of an attempt, on a real server, without receivers.
import { activityInfo } from '@temporalio/activity';
import { TypedSearchAttributes } from '@temporalio/common';
import type {
  Activities,
  AttemptOutcome,
  AttemptRequest,
  CircuitAdvice,
  CircuitRequest,
  DeliveryReference,
  RecordedOutcome,
  RecordRequest,
  ReconcilePosition,
  ReconcileStep,
} from '../../../activities/types.ts';
import { withHeartbeat } from '../../../activities/activity.ts';
import { ownWords } from '../../../core/text/error-summary.ts';
import { newId } from '../../../core/text/ids.ts';
import type { circuit } from '../../../workflows/circuit.ts';
import type { delivery } from '../../../workflows/delivery.ts';
import type { maintenance, reconcile } from '../../../workflows/maintenance.ts';
import type { DeliveryInput } from '../../../workflows/signals-and-queries.ts';
import {
  circuitWorkflowId,
  destinationIdAttribute,
  eventIdAttribute,
  organizationIdAttribute,
} from '../../../core/temporal/names.ts';
import { nextOf, startWorkers } from './scripted-workers.ts';

/** What the next attempt of a delivery does; an Error means that our own side is away. */
export type Step = AttemptOutcome | Error | Promise<AttemptOutcome>;

export const delivered: RecordedOutcome = { status: 'delivered', statusCode: 200, error: null };
export const closed: RecordedOutcome = { status: 'closed', statusCode: null, error: null };
export const failed = {
  status: 'failed',
  statusCode: 500,
  error: ownWords`The destination returned 500`,
} as const satisfies AttemptOutcome;
export const failedOver: AttemptOutcome = {
  status: 'failed_over',
  statusCode: 500,
  error: ownWords`The destination returned 500`,
  takenOverBy: 'dlv_00000000000000000000000000',
};
export const held: AttemptOutcome = { status: 'held' };
export const deferred = (waitMs: number, slotAt?: number): AttemptOutcome => ({ status: 'deferred', waitMs, slotAt });
/** It waits in the outbox for its turn. */
export const inQueue: AttemptOutcome = { status: 'deferred', waitMs: 3_600_000, queued: true };
export const unrecorded = {
  status: 'unrecorded',
  attempt: 1,
  deliveryStatus: 'retrying',
  statusCode: 503,
  error: ownWords`The destination returned 503`,
  latency: 12,
  startedAt: '2026-11-22T10:00:00.000Z',
  completedAt: '2026-11-22T10:00:00.012Z',
  waitMs: 10,
} as const satisfies AttemptOutcome;
export const retrying = (waitMs: number): RecordedOutcome => ({
  status: 'retrying',
  statusCode: 503,
  error: ownWords`The destination returned 503`,
  waitMs,
});

/** What a delivery is to do, and what its activities were asked for. */
interface Script {
  steps: Step[];
  recordings: (RecordedOutcome | Error)[];
  replayedAs: string | undefined;
  attempts: (AttemptRequest & { local: boolean })[];
  records: RecordRequest[];
  cancels: DeliveryReference[];
  replays: DeliveryReference[];
}

export type ScriptedWorker = Awaited<ReturnType<typeof startScriptedWorker>>;
/** One delivery under test: its workflow and what its activities were asked for. */
export type ScriptedDelivery = Awaited<ReturnType<ScriptedWorker['start']>>;

const POLICY = { maxRetries: 3, initialDelay: 1000, maxDelay: 60_000, backoffMultiplier: 2 };

export async function startScriptedWorker(taskQueue: string) {
  const scripts = new Map<string, Script>();
  const circuits = new Map<string, { steps: (CircuitAdvice | Error)[]; looks: CircuitRequest[] }>();
  let roundsLeft = 0;
  let reconciliation: { steps: ReconcileStep[]; positions: ReconcilePosition[] } = { steps: [], positions: [] };
  const { client, stop } = await startWorkers(taskQueue, {
    [taskQueue]: {
      ...scriptedActivities(scripts),
      ...scriptedCircuits(circuits),
      maintain: async () => {
        roundsLeft -= 1;
        return roundsLeft > 0;
      },
      reconcile: async (position: ReconcilePosition) => {
        reconciliation.positions.push(position);
        return nextOf(reconciliation.steps, 'step');
      },
    },
  });

  return {
    client,
    /**
     * Starts a delivery whose attempts follow `steps`; `replayedAs` is what its activity `replayDelivery` creates, and
     * `recordings` what `recordAttempt` comes to.
     */
    async start(
      steps: Step[],
      changes: Partial<DeliveryInput> = {},
      replayedAs?: string,
      recordings: (RecordedOutcome | Error)[] = [],
    ) {
      const input = deliveryInput(changes);
      const made = { attempts: [], records: [], cancels: [], replays: [] };
      const script: Script = {
        ...{ steps: [...steps], recordings: [...recordings], replayedAs: replayedAs ?? newId('dlv'), ...made },
      };
      scripts.set(input.deliveryId, script);
      const destinationId = newId('dst');
      const handle = await client.workflow.start<typeof delivery>('delivery', {
        taskQueue,
        workflowId: input.deliveryId,
        args: [input],
        staticSummary: 'orders -> Acme CRM',
        typedSearchAttributes: new TypedSearchAttributes([
          { key: organizationIdAttribute, value: input.organizationId },
          { key: destinationIdAttribute, value: destinationId },
          { key: eventIdAttribute, value: input.eventId },
        ]),
      });
      const { attempts, records, cancels, replays } = script;
      return { handle, input, destinationId, attempts, records, cancels, replays };
    },
    /** Starts a circuit whose looks find `steps`, one after the other. */
    async startCircuit(steps: (CircuitAdvice | Error)[]) {
      const [organizationId, routeId] = [newId('org'), newId('rte')];
      const looks: CircuitRequest[] = [];
      circuits.set(routeId, { steps: [...steps], looks });
      const handle = await client.workflow.start<typeof circuit>('circuit', {
        taskQueue,
        workflowId: circuitWorkflowId(routeId),
        args: [{ organizationId, routeId }],
        staticSummary: 'Circuit breaker for Orders to CRM',
      });
      return { handle, looks };
    },
    /** Runs housekeeping of so many rounds; returns the handle of the finished workflow. */
    async maintain(rounds: number) {
      roundsLeft = rounds;
      const workflowId = newId('org');
      const handle = await client.workflow.start<typeof maintenance>('maintenance', { taskQueue, workflowId });
      await handle.result();
      return handle;
    },
    /** Runs the reconciliation, whose steps come to `steps`; `positions` is what its activity was asked for. */
    async reconcile(steps: ReconcileStep[]) {
      reconciliation = { steps: [...steps], positions: [] };
      const { positions } = reconciliation;
      const workflowId = newId('org');
      const handle = await client.workflow.start<typeof reconcile>('reconcile', { taskQueue, workflowId, args: [] });
      return { handle, positions };
    },
    stop,
  };
}

function deliveryInput(changes: Partial<DeliveryInput>): DeliveryInput {
  return {
    organizationId: newId('org'),
    eventId: newId('evt'),
    deliveryId: newId('dlv'),
    retryPolicy: POLICY,
    quick: false,
    replayWindowMs: 60_000,
    ...changes,
  };
}

function scriptedCircuits(
  circuits: Map<string, { steps: (CircuitAdvice | Error)[]; looks: CircuitRequest[] }>,
): Pick<Activities, 'advanceCircuit'> {
  return {
    async advanceCircuit(request) {
      const script = circuits.get(request.routeId);
      script?.looks.push(request);
      return nextOf(script?.steps ?? [], 'look');
    },
  };
}

function scriptedActivities(
  scripts: Map<string, Script>,
): Omit<Activities, 'advanceCircuit' | 'maintain' | 'reconcile'> {
  const scriptOf = (deliveryId: string): Script => {
    const script = scripts.get(deliveryId);
    if (!script) throw new Error(`No script for ${deliveryId}`);
    return script;
  };
  return {
    async attemptDelivery(request) {
      const { attempts, steps } = scriptOf(request.deliveryId);
      attempts.push({ ...request, local: activityInfo().isLocal });
      // With heartbeats as the real one: a step that waits would count as lost.
      return withHeartbeat(() => nextOf(steps, 'attempt'));
    },
    async recordAttempt(request) {
      const { records, recordings } = scriptOf(request.deliveryId);
      records.push(request);
      return nextOf(recordings, 'recording');
    },
    async cancelDelivery(reference) {
      scriptOf(reference.deliveryId).cancels.push(reference);
    },
    async replayDelivery(reference) {
      const { replays, replayedAs } = scriptOf(reference.deliveryId);
      replays.push(reference);
      return replayedAs;
    },
  };
}

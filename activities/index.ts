// Builds the activities from what they depend on.
import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import { RECORDING_MS } from '../core/attempt-times.ts';
import { openError, ownWords } from '../core/error-summary.ts';
import { cancelDeliveries } from '../db/delivery-commands.ts';
import { replayOnce } from '../db/replay.ts';
import { type AttemptDeps, attemptDelivery } from './attempt.ts';
import { advanceCircuit, type CircuitDeps } from './circuit.ts';
import { inTime } from '../outbound/http/in-time.ts';
import type { Parking } from './parking.ts';
import { recordAttempt } from './record-attempt.ts';
import { type MaintenanceDeps, maintain } from './maintenance.ts';
import { type ReconcileDeps, reconcile } from './reconciliation/index.ts';
import { orEnd } from './or-end.ts';
import type { Activities, AttemptOutcome, AttemptRequest } from './types.ts';

// Well below the heartbeat timeout of the workflow, so that one late beat does not look like a dead worker.
const HEARTBEAT_MS = 4000;

export interface ActivityDeps extends AttemptDeps, MaintenanceDeps, CircuitDeps, ReconcileDeps {
  settings: MaintenanceDeps['settings'] & CircuitDeps['settings'];
  parking: Parking;
  /** Called when an attempt's result is recorded, with the delivery's id. */
  onRecorded: (deliveryId: string) => void;
}

export function createActivities(deps: ActivityDeps): Activities {
  /** Says of a failed delivery when it is not to wait for a replay. */
  const parkedOrNot = <Outcome extends AttemptOutcome>(
    outcome: Outcome,
    organizationId: string | undefined,
  ): Outcome =>
    outcome.status !== 'failed' || organizationId === undefined || deps.parking.admit(organizationId)
      ? outcome
      : { ...outcome, parked: false };

  return {
    async attemptDelivery(request: AttemptRequest): Promise<AttemptOutcome> {
      const { isLocal, startToCloseTimeoutMs } = activityInfo();
      const beat = isLocal ? undefined : setInterval(heartbeat, HEARTBEAT_MS);
      try {
        const sender = inTime(deps.sender, startToCloseTimeoutMs - RECORDING_MS);
        const ending = cancellationSignal();
        const own = { ...deps, sender, ending };
        const outcome = await orEnd(deps, request, () => attemptDelivery(own, request, 'workflow'));
        if (outcome.status !== 'unrecorded') deps.onRecorded(request.deliveryId);
        return parkedOrNot(outcome, request.organizationId);
      } catch (error) {
        const { message, code, stack } = error as NodeJS.ErrnoException;
        const { deliveryId, attempt } = request;
        deps.log.error({ deliveryId, attempt, error: message, code, stack }, 'attempt not made');
        throw error;
      } finally {
        clearInterval(beat);
      }
    },
    async recordAttempt(request) {
      const { deliveryId, eventId, made } = request;
      const attempt = { deliveryId, eventId, attempt: made.attempt, retryDelay: null };
      const outcome = await orEnd(deps, attempt, () => recordAttempt(deps, request));
      deps.onRecorded(deliveryId);
      return parkedOrNot(outcome, request.organizationId);
    },
    async advanceCircuit(request) {
      const beat = setInterval(heartbeat, HEARTBEAT_MS);
      try {
        return await advanceCircuit(deps, request);
      } finally {
        clearInterval(beat);
      }
    },
    async cancelDelivery({ organizationId, deliveryId }) {
      await cancelDeliveries(deps.pool, {
        organizationId,
        deliveryIds: [deliveryId],
        reason: openError(ownWords`Cancelled by an operator`),
      });
      deps.onRecorded(deliveryId);
    },
    replayDelivery: ({ organizationId, deliveryId }) => replayOnce(deps.pool, organizationId, deliveryId),
    async maintain() {
      const beat = setInterval(heartbeat, HEARTBEAT_MS);
      try {
        return await maintain(deps);
      } finally {
        clearInterval(beat);
      }
    },
    async reconcile(position) {
      const beat = setInterval(heartbeat, HEARTBEAT_MS);
      try {
        return await reconcile(deps, position);
      } finally {
        clearInterval(beat);
      }
    },
  };
}

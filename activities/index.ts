// Builds the activities from what they depend on.
import { activityInfo, heartbeat } from '@temporalio/activity';
import { cancelDeliveries } from '../db/delivery-commands.ts';
import { PayloadExpiredError, replayDelivery } from '../db/replay.ts';
import { type AttemptDeps, attemptDelivery } from './attempt.ts';
import { advanceCircuit, type CircuitDeps } from './circuit.ts';
import { recordAttempt } from './record-attempt.ts';
import { type MaintenanceDeps, maintain } from './maintenance.ts';
import { type ReconcileDeps, reconcile } from './reconciliation/index.ts';
import { orEnd } from './or-end.ts';
import type { Activities, AttemptOutcome, AttemptRequest } from './types.ts';

// Well below the heartbeat timeout of the workflow, so that one late beat does not look like a dead worker.
const HEARTBEAT_MS = 4000;

export interface ActivityDeps extends AttemptDeps, MaintenanceDeps, CircuitDeps, ReconcileDeps {
  settings: MaintenanceDeps['settings'] & CircuitDeps['settings'];
  /** Called when an attempt's result is recorded, with the delivery's id. */
  onRecorded: (deliveryId: string) => void;
}

export function createActivities(deps: ActivityDeps): Activities {
  return {
    async attemptDelivery(request: AttemptRequest): Promise<AttemptOutcome> {
      const beat = activityInfo().isLocal ? undefined : setInterval(heartbeat, HEARTBEAT_MS);
      try {
        const outcome = await orEnd(deps, request, () => attemptDelivery(deps, request, 'workflow'));
        if (outcome.status !== 'unrecorded') deps.onRecorded(request.deliveryId);
        return outcome;
      } catch (error) {
        deps.log.error(
          { deliveryId: request.deliveryId, attempt: request.attempt, error: String(error) },
          'attempt not made',
        );
        throw error;
      } finally {
        clearInterval(beat);
      }
    },
    async recordAttempt(request) {
      const outcome = await recordAttempt(deps, request);
      deps.onRecorded(request.deliveryId);
      return outcome;
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
        reason: 'Cancelled by an operator',
      });
      deps.onRecorded(deliveryId);
    },
    async replayDelivery({ organizationId, deliveryId }) {
      try {
        return (await replayDelivery(deps.pool, organizationId, deliveryId))?.deliveries[0]?.id;
      } catch (error) {
        if (error instanceof PayloadExpiredError) return undefined;
        throw error;
      }
    },
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

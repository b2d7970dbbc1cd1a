import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { RECORDING_MS } from '../core/delivery/delivery.ts';
import { throttled } from '../core/process/log.ts';
import { causeOf } from '../core/process/log-cause.ts';
import { openError, ownWords } from '../core/text/error-summary.ts';
import { actingFor } from '../db/connections/by-organization.ts';
import { isTransientDatabaseError } from '../db/connections/database-errors.ts';
import { cancelDeliveries } from '../db/delivery/delivery-commands.ts';
import { replayOnce } from '../db/replay/replay.ts';
import { inTime } from '../outbound/http/sender.ts';
import type { Threads } from '../outbound/threads/index.ts';
import type { InstallationClient } from '../temporal-config/client.ts';
import { withHeartbeat } from './activity.ts';
import { type AttemptDeps, attemptDelivery } from './attempt/index.ts';
import { orEnd, recordAttempt } from './attempt/outcomes.ts';
import type { RetrySlots } from './attempt/retry-slots.ts';
import { advanceCircuit, type CircuitDeps } from './circuit.ts';
import { type MaintenanceDeps, maintain } from './maintenance/index.ts';
import type { Parking } from './parking.ts';
import { type ReconcileDeps, reconcile } from './reconciliation.ts';
import type { Activities, AttemptOutcome, AttemptRequest } from './types.ts';

// A local activity ends within this time of its begin, ms, whether its result is recorded or not; else its workflow
// records it. That is shorter than the time (8 s) after which the workflow task must be prolonged: where that comes too
// late, another worker makes the attempt again.
const LOCAL_END_MS = 7500;
// So long it waits for its result to be recorded at least, ms: a group of results takes a few.
const LEAST_AWAIT_RECORD_MS = 500;

export interface ActivityDeps extends AttemptDeps, MaintenanceDeps, CircuitDeps, ReconcileDeps {
  settings: MaintenanceDeps['settings'];
  client: InstallationClient;
  parking: Parking;
  threads: Threads;
  retrySlots: RetrySlots;
  /** Any worker may make a regular one. */
  onBegun: (deliveryId: string) => void;
  onRecorded: (deliveryId: string) => void;
}

export function createActivities(deps: ActivityDeps): Activities {
  const parkedOrNot = <Outcome extends AttemptOutcome>(outcome: Outcome, organizationId: string): Outcome =>
    outcome.status !== 'failed' || deps.parking.admit(organizationId) ? outcome : { ...outcome, parked: false };

  return {
    async attemptDelivery(request: AttemptRequest): Promise<AttemptOutcome> {
      const begunAt = performance.now();
      const { isLocal, startToCloseTimeoutMs } = activityInfo();
      if (isLocal) deps.onBegun(request.deliveryId);
      try {
        const sender = inTime(deps.sender, startToCloseTimeoutMs - RECORDING_MS);
        const ending = cancellationSignal();
        const own = {
          ...deps,
          sender,
          ending,
          // Asked when the attempt has been made.
          get awaitRecordMs() {
            const leftMs = LOCAL_END_MS - (performance.now() - begunAt);
            return isLocal ? Math.max(LEAST_AWAIT_RECORD_MS, leftMs) : deps.awaitRecordMs;
          },
        };
        const make = () => orEnd(deps, request, () => attemptDelivery(own, request, 'workflow'));
        // Local activities have no heartbeat, and are first attempts only.
        const outcome = await (isLocal
          ? deps.retrySlots.once(request, () => actingFor(request.organizationId, make))
          : withHeartbeat(() => deps.retrySlots.inTurn(request, make)));
        if (outcome.status !== 'unrecorded') deps.onRecorded(request.deliveryId);
        return parkedOrNot(outcome, request.organizationId);
      } catch (error) {
        const { deliveryId, attempt } = request;
        // While the database is away, or an organization waits for its turn there, it is so for all.
        const log = isTransientDatabaseError(error) ? throttled(deps.log) : deps.log;
        log.error({ deliveryId, attempt, cause: causeOf(error) }, 'an attempt failed because of an internal error');
        throw error;
      }
    },
    async recordAttempt(request) {
      const { organizationId, deliveryId, eventId, made } = request;
      const attempt = { organizationId, deliveryId, eventId, attempt: made.attempt, retryDelay: null };
      const outcome = await actingFor(organizationId, () => orEnd(deps, attempt, () => recordAttempt(deps, request)));
      deps.onRecorded(deliveryId);
      return parkedOrNot(outcome, organizationId);
    },
    advanceCircuit: (request) => withHeartbeat(() => advanceCircuit(deps, request)),
    async cancelDelivery({ organizationId, deliveryId }) {
      const reason = openError(ownWords`Cancelled by an operator`);
      await actingFor(organizationId, () =>
        cancelDeliveries(deps.pool, { organizationId, deliveryIds: [deliveryId], reason }),
      );
      deps.onRecorded(deliveryId);
    },
    replayDelivery: ({ organizationId, deliveryId }) =>
      actingFor(organizationId, () => replayOnce(deps.pool, organizationId, deliveryId, deps.threads.validate)),
    maintain: () => withHeartbeat(() => maintain(deps)),
    reconcile: (position) => withHeartbeat(() => reconcile(deps, position)),
  };
}

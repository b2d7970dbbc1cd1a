// How a claimed delivery starts: its workflow is started or woken, or the relay makes the first attempt itself (express lane).
import type { Client } from '@temporalio/client';
import type { Parking } from '../activities/parking.ts';
import type { AttemptOutcome, AttemptRequest } from '../activities/types.ts';
import type { Lane } from '../core/lane.ts';
import type { Log } from '../core/log.ts';
import type { OutboxRow } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/pool.ts';
import type { ResumePoint } from '../db/reconciliation/reconciliation.ts';
import { lookAfterQueued } from '../temporal-config/open-deliveries.ts';
import type { FirstAttempt, ResumedDelivery } from '../workflows/messages.ts';
import { createExpress } from './express.ts';
import type { InFlight } from './in-flight.ts';
import type { Latencies } from './latencies.ts';
import { resumeDelivery } from './resume.ts';
import { startDelivery } from './start-delivery.ts';
import type { StartPolicy } from './start-policies.ts';
import { signalTurn } from './turns.ts';

export interface StartsDeps {
  inFlight: InFlight;
  /** Called with a delivery that no longer needs its place. */
  freePlace: (deliveryId: string) => void;
  /** Runs the rare commands. */
  pool: Pool;
  client: Client;
  latencies: Latencies;
  replayWindowMs: number;
  parking: Parking;
  /** For routes without one. */
  lane: Lane;
  /** Makes and records a first attempt in the express lane. */
  attempt: (request: AttemptRequest) => Promise<AttemptOutcome>;
  /** How long running attempts of the express lane get at the end, ms. */
  drainMs: number;
  log: Log;
}

export interface Starts {
  /** Starts a delivery; it keeps its place until its first result is recorded. */
  start(row: OutboxRow, policy: StartPolicy): Promise<void>;
  /** Starts the workflow of a delivery that continues from its recorded attempts. */
  resume(row: OutboxRow, policy: StartPolicy, point: ResumePoint | undefined): Promise<void>;
  /** Wakes the workflow of a delivery whose turn has come. Without a result it is signalled again after a while. */
  wakeWorkflow(row: OutboxRow): Promise<void>;
  /** Whether this process makes the first attempt of a delivery itself at the moment. */
  isRunning(deliveryId: string): boolean;
  /** Resolves when no attempt is running, or on timeout. */
  drain(): Promise<void>;
}

export function createStarts(deps: StartsDeps): Starts {
  const { freePlace } = deps;
  const express = createExpress({
    ...deps,
    startWorkflow: (row, policy, first) => startWorkflow(row, policy, { first }),
    lookAfter: (row) => lookAfterQueued(deps, row),
    done: freePlace,
  });

  function startWorkflow(
    row: OutboxRow,
    policy: StartPolicy,
    from: { first?: FirstAttempt; resumed?: ResumedDelivery } = {},
  ): Promise<boolean> {
    const waitsForReplay = from.first?.status !== 'failed' || deps.parking.admit(row.organizationId);
    return startDelivery(deps.client, row, policy, {
      quick: deps.latencies.isQuick(row.destinationId),
      replayWindowMs: waitsForReplay ? deps.replayWindowMs : 0,
      ...from,
    });
  }

  async function wakeWorkflow(row: OutboxRow): Promise<void> {
    let keepsPlace = false;
    try {
      keepsPlace = await signalTurn(deps, row);
    } finally {
      if (!keepsPlace) freePlace(row.deliveryId);
    }
  }

  return {
    async start(row, policy) {
      if (row.resume === 'waiting') return wakeWorkflow(row);
      // Attempts to slow destinations are left to workflows, which another worker continues if this one ends.
      if ((policy.lane ?? deps.lane) === 'express' && !deps.latencies.isSlow(row.destinationId)) {
        express.run(row, policy);
        return;
      }
      try {
        await startWorkflow(row, policy);
      } catch (error) {
        // Does not wake the relay: it is about to rest because of this error.
        deps.inFlight.delete(row.deliveryId);
        throw error;
      }
    },
    async resume(row, policy, point) {
      try {
        const start = (resumed: ResumedDelivery) => startWorkflow(row, policy, { resumed });
        await resumeDelivery(deps, row, point, start);
      } finally {
        freePlace(row.deliveryId);
      }
    },
    wakeWorkflow,
    isRunning: express.isRunning,
    drain: express.drain,
  };
}

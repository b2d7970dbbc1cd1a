// The relay: from the outbox to workflows. Each round (round.ts) claims the deliveries that this process may start, and
// starts them; they count as in flight until their first result is recorded. loop.ts decides when rounds run; this file
// puts the parts together.

import { throttled } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { Claims } from './claim.ts';
import { InFlight } from './in-flight.ts';
import { BackgroundTasks, oneAtATime, RelayLoop } from './loop.ts';
import { createPacing, createVacuum, runRound } from './round.ts';
import type { Shards } from './shards.ts';
import { Starts, type StartsDeps } from './start.ts';
import { createStartPolicies } from './workflow-start.ts';

interface RelayDeps extends Omit<StartsDeps, 'inFlight' | 'freeSlot' | 'background' | 'owns' | 'policiesOf'> {
  hotPool: Pool;
  shards: Shards;
  mostInFlight: number;
  mostWorkflows: number;
  makesAttempt: (deliveryId: string) => boolean;
  suspended: () => string[];
  /** Whether this process hears of new deliveries (db/hot-path/outbox-listener.ts). */
  hears: () => boolean;
}

export type Relay = ReturnType<typeof startRelay>;

export function startRelay(deps: RelayDeps) {
  const { hotPool, pool, shards, suspended, log } = deps;
  const { hears, concurrency, mostInFlight: total, mostWorkflows: workflows } = deps;
  const inFlight = new InFlight({ total, workflows, concurrency });
  const pacing = createPacing(pool);
  const held = () => shards.held();
  const claims = new Claims({ hotPool, held, inFlight, waiting: () => pacing.waiting(), suspended });
  const wake = () => loop.wake();
  // The loop backs off.
  const background = new BackgroundTasks(wake);
  // It may have stayed in the outbox.
  const freeSlot = (deliveryId: string) => {
    if (inFlight.delete(deliveryId)) wake();
  };
  const policiesOf = createStartPolicies(hotPool);
  const owns = (shard: number) => loop.state !== 'draining' && held()?.shards.includes(shard) === true;
  const starts = new Starts({ ...deps, inFlight, freeSlot, background, owns, policiesOf });
  const isRunning = (deliveryId: string) => starts.isRunning(deliveryId) || deps.makesAttempt(deliveryId);
  const checkOverdue = oneAtATime(() => deps.repairs.lookAfterOverdue({ ...deps, inFlight, isRunning, freeSlot }));
  const vacuum = createVacuum(pool, background);
  const round = { ...deps, inFlight, claims, vacuum, policiesOf, pacing, starts, background, wake };
  shards.reportInFlight(() => inFlight.byShard());

  const loop = new RelayLoop({
    owns: () => held() !== null,
    free: () => inFlight.free,
    hears,
    workers: () => shards.workers,
    async round(isQuiet) {
      if (isQuiet) claims.sweep();
      else claims.endSweep();
      await runRound(round);
      return claims.hasFound;
    },
    hasMore: () => claims.hasMore,
    isSwept: () => claims.isSwept,
    look: () => background.run(checkOverdue()),
    dueInMs: () => Math.min(pacing.nextInMs(), inFlight.nextCheckInMs),
    onError: (error) =>
      throttled(log).warn({ cause: causeOf(error) }, 'the last round of the relay failed; trying again'),
  });

  return {
    wake,
    answered(deliveryId: string): void {
      // Its destination was skipped by claims.
      if (inFlight.answered(deliveryId)) wake();
    },
    /** Call it when a destination without a slot has one again: a retry has left it, or this worker has a slot. */
    onRoom: wake,
    hasPermit: (deliveryId: string) => inFlight.hasPermit(deliveryId),
    /** Whether others wait for a delivery to be recorded, because all slots are taken. */
    isAwaited: (deliveryId: string) => inFlight.isAwaited(deliveryId),
    recorded(deliveryId: string): void {
      const wasAwaited = inFlight.isAwaited(deliveryId);
      const isOrdered = inFlight.isOrdered(deliveryId);
      // The next one of an ordering key enters the outbox with the record.
      if (inFlight.delete(deliveryId) && (wasAwaited || isOrdered)) wake();
    },
    slotTaken: pacing.slotTaken,
    state: () => ({
      inFlight: inFlight.size,
      free: inFlight.free,
      /** Since its last claim, ms; undefined before the first. */
      claimedMsAgo: claims.claimedAt === undefined ? undefined : performance.now() - claims.claimedAt,
    }),
    async stop(): Promise<void> {
      await loop.stop();
      // What is in flight may take long.
      shards.leave();
      deps.workflowPermits.end();
      await background.idle();
      await starts.drain();
    },
  };
}

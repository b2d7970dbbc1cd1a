// The relay: from the outbox to workflows. Each round (relay-round.ts) claims the deliveries that this process may start, and
// starts them; they count as in flight until their first result is recorded. This file decides when rounds run, and what ends a
// rest.
import { causeOf } from '../core/log-cause.ts';
import { PollLoop } from '../core/poll-loop.ts';
import { isToldOf } from '../core/positions.ts';
import { throttled } from '../core/throttled-log.ts';
import type { Pool } from '../db/connections/pool.ts';
import { BackgroundTasks, oneAtATime } from './background-tasks.ts';
import { createClaims } from './claims.ts';
import { InFlight } from './in-flight.ts';
import { createOutboxVacuum } from './outbox-vacuum.ts';
import { lookAfterOverdue } from './overdue.ts';
import { createPacing } from './pacing.ts';
import { RelayRests } from './relay-rests.ts';
import { runRound } from './relay-round.ts';
import type { Shards } from './shards.ts';
import { createStartPolicies } from './start-policies.ts';
import { createStarts, type StartsDeps } from './starts.ts';

// A relay with this many recent starts claims in groups after its rests, and is woken for many commits at once. Deliveries that wait
// for a slow destination do not count: they would make others wait for the rests.
const BUSY_IN_FLIGHT = 10;

interface RelayDeps extends Omit<StartsDeps, 'inFlight' | 'freePlace' | 'background'> {
  /** Runs the claims. */
  hotPool: Pool;
  shards: Shards;
  /** Most deliveries in flight. */
  mostInFlight: number;
  /** How many of them may be started as workflows. */
  mostWorkflows: number;
  /** Whether there is only one organization. */
  alone: () => boolean;
  /** Whether an activity of this process makes an attempt of this delivery at the moment. */
  makesAttempt: (deliveryId: string) => boolean;
  /** Organizations whose deliveries wait. */
  suspended: () => string[];
  /** Whether this process hears of new deliveries (db/hot-path/outbox-listener.ts). */
  hears: () => boolean;
}

export interface RelayState {
  /** Deliveries in flight. */
  inFlight: number;
  /** How many more it may start. */
  free: number;
  /** Since its last claim, ms; undefined before the first. */
  claimedMsAgo: number | undefined;
}

export interface Relay {
  /** Call it when there may be new deliveries in the outbox. */
  nudge(): void;
  /** Call it with what is told of new deliveries (db/hot-path/outbox-listener.ts). */
  heard(told: string): void;
  /** Call it when a destination has answered an attempt: it may get another one. */
  answered(deliveryId: string): void;
  /** Call it when a destination without a place has one again, because a retry has left it, or this worker has a slot. */
  onRoom(): void;
  /** Whether it holds a place for a delivery at its destination. */
  hasPlace(deliveryId: string): boolean;
  /** Whether others wait for a delivery to be recorded, because all places are taken. */
  isAwaited(deliveryId: string): boolean;
  /** Call it when a delivery's first result is recorded: its place is free. */
  recorded(deliveryId: string): void;
  /** What it is doing. */
  state(): RelayState;
  /** Call it when an attempt has reserved a slot of its destination's rate limit. */
  slotTaken(destinationId: string, deliveryId: string): void;
  /** Stops starting; resolves when the current round and its background work have ended. */
  stop(): Promise<void>;
}

export function startRelay(deps: RelayDeps): Relay {
  const { hotPool, pool, shards, suspended, log } = deps;
  const { hears, places, alone, mostInFlight: total, mostWorkflows: workflows } = deps;
  const inFlight = new InFlight({ total, workflows, places }, { alone, isSlow: (id) => places.isSlow(id) });
  const pacing = createPacing(pool);
  const vacuum = createOutboxVacuum(pool, log);
  const background = new BackgroundTasks();
  const starts = createStarts({ ...deps, inFlight, freePlace, background });
  const isRunning = (deliveryId: string) => starts.isRunning(deliveryId) || deps.makesAttempt(deliveryId);
  const checkOverdue = oneAtATime(() => lookAfterOverdue({ ...deps, inFlight, isRunning }));
  const rests = new RelayRests({ hears });
  const isBusy = () => inFlight.recentlyStarted >= BUSY_IN_FLIGHT;
  const claims = createClaims({
    hotPool,
    held: () => shards.held(),
    inFlight,
    waiting: () => pacing.waiting(),
    suspended,
    alone,
  });
  shards.reportInFlight(() => inFlight.deliveryIds());
  const policiesOf = createStartPolicies(hotPool);
  const round = { pool, shards, inFlight, claims, vacuum, policiesOf, pacing, places, starts, background, isBusy };

  // Of a destination at its own limit there is news when it has room, as there is of a free place.
  const isDone = () => !isBusy() && !claims.midRound && inFlight.free > 0 && !inFlight.holdsBack;
  const quietMs = () => (isDone() ? pacing.nextInMs() : 0);

  const loop = new PollLoop({
    async round() {
      background.run(checkOverdue());
      return rests.after(await runRound(round), isBusy(), quietMs);
    },
    onError(error) {
      throttled(log).warn({ cause: causeOf(error) }, 'the relay waits: its last round failed');
      return rests.afterError();
    },
  });

  function nudge(): void {
    rests.woken();
    claims.changed();
    loop.nudge();
  }

  function freePlace(deliveryId: string): void {
    const wasAwaited = inFlight.isAwaited(deliveryId);
    if (!inFlight.delete(deliveryId) || !wasAwaited) return;
    rests.woken();
    claims.changed();
    loop.wake();
  }

  return {
    nudge() {
      rests.nudged();
      nudge();
    },
    heard(told) {
      rests.nudged();
      if (isToldOf(told, shards.held()?.positions ?? [])) nudge();
    },
    answered(deliveryId) {
      // Its destination was skipped by claims: without this it would wait for the rest to end.
      if (inFlight.answered(deliveryId)) nudge();
    },
    onRoom: nudge,
    hasPlace: (deliveryId) => inFlight.hasPlace(deliveryId),
    isAwaited: (deliveryId) => inFlight.isAwaited(deliveryId),
    recorded: freePlace,
    slotTaken: pacing.slotTaken,
    state: () => ({
      inFlight: inFlight.size,
      free: inFlight.free,
      claimedMsAgo: claims.claimedAt === undefined ? undefined : performance.now() - claims.claimedAt,
    }),
    async stop() {
      await loop.stop();
      // What is in flight may take long.
      shards.leave();
      deps.workflowTurns.end();
      await background.idle();
      await starts.drain();
      await vacuum.idle();
    },
  };
}

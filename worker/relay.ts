// The relay: from the outbox to workflows. Each round (relay-round.ts) claims the deliveries that this process may start, and
// starts them; they count as in flight until their first result is recorded. This file decides when rounds run, and what ends a
// rest.
import { AdaptiveRest, PollLoop } from '../core/poll-loop.ts';
import type { Pool } from '../db/pool.ts';
import { BackgroundTasks, oneAtATime } from './background-tasks.ts';
import { createClaims } from './claims.ts';
import { InFlight } from './in-flight.ts';
import { createOutboxVacuum } from './outbox-vacuum.ts';
import { lookAfterOverdue } from './overdue.ts';
import { createPacing } from './pacing.ts';
import { runRound } from './relay-round.ts';
import type { Shards } from './shards.ts';
import { createStartPolicies } from './start-policies.ts';
import { createStarts, type StartsDeps } from './starts.ts';

// Rests double from the first to the second while there is nothing to start, ms. Nudges never cut them below the first: with
// every destination full, the relay would keep making empty claims.
const MIN_REST_MS = 5;
const MAX_REST_MS = 100;
// Rest after an error of the database or of Temporal.
const ERROR_REST_MS = 1000;
// A relay with this many recent starts claims in groups after its rests, and is not woken for every commit. Deliveries that wait
// for a slow destination do not count: they would make others wait for the rests.
const BUSY_IN_FLIGHT = 10;

interface RelayDeps extends Omit<StartsDeps, 'inFlight' | 'freePlace'> {
  /** Runs the claims. */
  hotPool: Pool;
  shards: Shards;
  limits: { total: number; perDestination: number };
  /** Whether there is only one organization. */
  alone: () => boolean;
  /** Whether an activity of this process makes an attempt of this delivery at the moment. */
  makesAttempt: (deliveryId: string) => boolean;
  /** Organizations whose deliveries wait. */
  suspended: () => string[];
}

export interface Relay {
  /** Call it when there may be new deliveries in the outbox. */
  nudge(): void;
  /** Call it when a destination has answered an attempt: it may get another one. */
  answered(deliveryId: string): void;
  /** Call it when a delivery's first result is recorded: its place is free. */
  recorded(deliveryId: string): void;
  /** Call it when an attempt has reserved a slot of its destination's rate limit. */
  slotTaken(destinationId: string, deliveryId: string): void;
  /** Stops starting; resolves when the current round and its background work have ended. */
  stop(): Promise<void>;
}

export function startRelay(deps: RelayDeps): Relay {
  const { hotPool, pool, shards, suspended, log } = deps;
  const inFlight = new InFlight(deps.limits, { alone: deps.alone });
  const pacing = createPacing(pool);
  const vacuum = createOutboxVacuum(pool, log);
  const background = new BackgroundTasks();
  const starts = createStarts({ ...deps, inFlight, freePlace });
  const isRunning = (deliveryId: string) => starts.isRunning(deliveryId) || deps.makesAttempt(deliveryId);
  const checkOverdue = oneAtATime(() => lookAfterOverdue({ ...deps, inFlight, isRunning }));
  const rests = new AdaptiveRest(MIN_REST_MS, MAX_REST_MS);
  const isBusy = () => inFlight.recentlyStarted >= BUSY_IN_FLIGHT;
  const claims = createClaims({ hotPool, owner: shards.owner, inFlight, waiting: () => pacing.waiting(), suspended });
  const policiesOf = createStartPolicies(hotPool);
  const round = { pool, shards, inFlight, claims, vacuum, policiesOf, pacing, starts, background, isBusy };

  const loop = new PollLoop({
    async round() {
      background.run(checkOverdue());
      return rests.after(await runRound(round));
    },
    heedsNudges: () => !isBusy(),
    onError(error) {
      log.warn({ err: error }, 'relay waits: the database or Temporal is away, or the relay itself has failed');
      return rests.afterError(ERROR_REST_MS);
    },
  });

  function freePlace(deliveryId: string): void {
    const wasAwaited = inFlight.isAwaited(deliveryId);
    if (inFlight.delete(deliveryId) && wasAwaited) loop.wake();
  }

  return {
    nudge: () => loop.nudge(),
    answered: (deliveryId) => inFlight.answered(deliveryId),
    recorded: freePlace,
    slotTaken: pacing.slotTaken,
    async stop() {
      await loop.stop();
      await background.idle();
      await starts.drain();
      await vacuum.idle();
    },
  };
}

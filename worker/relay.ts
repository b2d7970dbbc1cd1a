// The relay: from the outbox to workflows. Claims what this process may start, starts it, and remembers it until its
// first result is recorded.
import type { Client } from '@temporalio/client';
import type { Parking } from '../activities/parking.ts';
import { lookAfterQueued } from '../temporal-config/open-deliveries.ts';
import type { AttemptOutcome, AttemptRequest } from '../activities/types.ts';
import type { Lane } from '../core/lane.ts';
import type { Log } from '../core/log.ts';
import { type OutboxRow, removeQueued } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/pool.ts';
import { type ResumePoint, resumePoints } from '../db/reconciliation.ts';
import { createClaims } from './claims.ts';
import { createExpress } from './express.ts';
import { InFlight } from './in-flight.ts';
import type { Latencies } from './latencies.ts';
import { divertNew } from './diversion.ts';
import type { FirstAttempt, ResumedDelivery } from '../workflows/messages.ts';
import { createOutboxVacuum } from './outbox-vacuum.ts';
import { lookAfterOverdue } from './overdue.ts';
import { createPacing } from './pacing.ts';
import type { Shards } from './shards.ts';
import { startDelivery } from './start-delivery.ts';
import { createStartPolicies, type StartPolicy } from './start-policies.ts';
import { tellTurn } from './turns.ts';

// How long the relay rests when there is nothing to start and nobody tells it of more: doubles from the first to the
// second, ms.
const MIN_REST_MS = 5;
const MAX_REST_MS = 100;
// After an error of the database or of Temporal.
const ERROR_REST_MS = 1000;
// A relay with this many started a short while ago claims in groups, by its rests, and is not woken for every single
// commit. What waits for a slow destination does not count: others would wait for the rests because of it.
const BUSY_IN_FLIGHT = 10;

export interface RelayDeps {
  /** Runs the claims. */
  hotPool: Pool;
  /** Runs the rare commands. */
  pool: Pool;
  client: Client;
  shards: Shards;
  latencies: Latencies;
  limits: { total: number; perDestination: number };
  replayWindowMs: number;
  parking: Parking;
  /** Of routes that name none. */
  lane: Lane;
  /** Makes and records a first attempt in the express lane. */
  attempt: (request: AttemptRequest) => Promise<AttemptOutcome>;
  /** How long running attempts of the express lane get at the end, ms. */
  drainMs: number;
  log: Log;
}

export interface Relay {
  /** Tells that there may be new deliveries in the outbox. */
  nudge(): void;
  /** Tells that a destination has answered an attempt: it may get another one. */
  answered(deliveryId: string): void;
  /** Tells that a delivery's first result is recorded: its place is free. */
  recorded(deliveryId: string): void;
  /** Tells that an attempt has reserved a slot of its destination's rate limit. */
  slotTaken(destinationId: string, deliveryId: string): void;
  /** Stops starting; resolves when the round under way has ended. */
  stop(): Promise<void>;
}

export function startRelay(deps: RelayDeps): Relay {
  const inFlight = new InFlight(deps.limits);
  const policiesOf = createStartPolicies(deps.hotPool);
  const pacing = createPacing(deps.pool);
  const claims = createClaims({
    hotPool: deps.hotPool,
    owner: deps.shards.owner,
    inFlight,
    waiting: () => pacing.waiting(),
  });
  const vacuum = createOutboxVacuum(deps.pool, deps.log);
  const express = createExpress({
    ...deps,
    startWorkflow: (row, policy, first) => startWorkflow(row, policy, { first }),
    lookAfter: (row) => lookAfterQueued(deps, row),
    done: freePlace,
  });
  let stopping = false;
  let wake: () => void = () => {};
  // News that came while a round was under way, or right after it: the rest is short then.
  let news = false;
  let roundEndedAt = 0;
  let failing = false;
  // What rounds have left to be done beside the next ones, and the first error of it, which makes the relay rest.
  const aside = new Set<Promise<void>>();
  let trouble: unknown;
  let checking = false;
  const ended = run();

  async function run(): Promise<void> {
    let rest = MIN_REST_MS;
    while (!stopping) {
      try {
        news = false;
        const started = await round();
        raiseTrouble();
        // Nothing found among some of the destinations says nothing of the others.
        rest = started > 0 || (claims.midRound && mayClaim()) ? MIN_REST_MS : Math.min(MAX_REST_MS, rest * 2);
        failing = false;
      } catch (error) {
        deps.log.warn({ err: error }, 'relay waits: the database or Temporal is away, or the relay itself has failed');
        rest = ERROR_REST_MS;
        failing = true;
      }
      roundEndedAt = performance.now();
      // At least the shortest rest: with every destination full, news alone would keep the relay claiming in vain.
      await pause(news && !failing && inFlight.brisk < BUSY_IN_FLIGHT ? MIN_REST_MS : rest);
    }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  function leaveAside(work: Promise<void>): void {
    const watched = work
      .catch((error: unknown) => {
        trouble ??= error;
      })
      .finally(() => aside.delete(watched));
    aside.add(watched);
  }

  function raiseTrouble(): void {
    const error = trouble;
    trouble = undefined;
    if (error !== undefined) throw error;
  }

  /**
   * Claims and starts once. What is in flight already is not claimed again, so a claim waits for nothing that belongs to
   * other destinations: neither for the look-ups of slow ones, nor for circuits, nor, in a quiet relay, for starts.
   * @returns how many were claimed to be started or diverted
   */
  async function round(): Promise<number> {
    if (!checking) leaveAside(checkOverdue());
    const claimed = await claim();
    const rows = claimed.filter((row) => row.blockedBy === null);
    leaveAside(divert(claimed.filter((row) => row.blockedBy !== null && row.resume !== 'waiting')));
    // Their own workflows find out where they go instead.
    leaveAside(settleAll(claimed.filter((row) => row.blockedBy !== null && row.resume === 'waiting').map(wakeUp)));
    if (rows.length === 0) return claimed.length;
    const policyOf = await policiesOf(rows);
    const resumed = await resumeAll(rows, policyOf);
    const starts = await pacing.pace(
      rows.filter((row) => !resumed.has(row)),
      (row) => policyOf(row).rateLimitPerMinute,
    );
    const starting = new Set([...resumed, ...starts]);
    for (const row of rows) if (!starting.has(row)) inFlight.delete(row.deliveryId);
    const started = settleAll(starts.map((row) => start(row, policyOf(row))));
    // A busy relay waits, so that the next claim is of a group.
    if (inFlight.brisk >= BUSY_IN_FLIGHT) await started;
    else leaveAside(started);
    return starts.length + claimed.length - rows.length;
  }

  /**
   * Starts the workflows of deliveries that go on from their recorded attempts. They wait by themselves for the time of their
   * next one, so they take neither a slot of a rate limit now nor the express lane.
   * @returns the rows that it takes care of
   */
  async function resumeAll(rows: OutboxRow[], policyOf: (row: OutboxRow) => StartPolicy): Promise<Set<OutboxRow>> {
    const candidates = rows.filter((row) => row.resume === 'lost' || row.resume === 'ended');
    const points = await resumePoints(
      deps.pool,
      candidates.map((row) => row.deliveryId),
    );
    // Those without an attempt begin like new ones.
    const resumed = candidates.filter((row) => points.get(row.deliveryId)?.attempts !== 0);
    for (const row of resumed) leaveAside(resume(row, policyOf(row), points.get(row.deliveryId)));
    return new Set(resumed);
  }

  /** The row is removed when Temporal has the workflow, or the delivery is not open any more. */
  async function resume(row: OutboxRow, policy: StartPolicy, point: ResumePoint | undefined): Promise<void> {
    try {
      const started = point === undefined || (await startWorkflow(row, policy, { resumed: point }));
      if (started || (await lookAfterQueued(deps, row))) await removeQueued(deps.pool, row);
    } finally {
      freePlace(row.deliveryId);
    }
  }

  /** A workflow that is told and not heard of is told again after a while. */
  async function wakeUp(row: OutboxRow): Promise<void> {
    let isAwaited = false;
    try {
      isAwaited = await tellTurn(deps, row);
    } finally {
      if (!isAwaited) freePlace(row.deliveryId);
    }
  }

  /** Deliveries that the circuit of their route keeps from being attempted go to a failover destination, or are held. */
  async function divert(blocked: OutboxRow[]): Promise<void> {
    if (blocked.length === 0) return;
    try {
      await divertNew(deps.pool, blocked);
    } finally {
      for (const row of blocked) inFlight.delete(row.deliveryId);
    }
  }

  async function start(row: OutboxRow, policy: StartPolicy): Promise<void> {
    if (row.resume === 'waiting') return wakeUp(row);
    // A slow destination's attempts are left to workflows, which any worker may go on with should this one end.
    if ((policy.lane ?? deps.lane) === 'express' && !deps.latencies.isSlow(row.destinationId)) {
      express.run(row, policy);
      return;
    }
    try {
      await startWorkflow(row, policy);
    } catch (error) {
      inFlight.delete(row.deliveryId);
      throw error;
    }
  }

  function startWorkflow(
    row: OutboxRow,
    policy: StartPolicy,
    from: { first?: FirstAttempt; resumed?: ResumedDelivery } = {},
  ): Promise<boolean> {
    return startDelivery(deps.client, row, policy, {
      quick: deps.latencies.isQuick(row.destinationId),
      replayWindowMs:
        from.first?.status === 'failed' && !deps.parking.admit(row.organizationId) ? 0 : deps.replayWindowMs,
      ...from,
    });
  }

  function freePlace(deliveryId: string): void {
    const wasAwaited = inFlight.isAwaited(deliveryId);
    if (inFlight.delete(deliveryId) && wasAwaited) wake();
  }

  function mayClaim(): boolean {
    return deps.shards.held().length > 0 && inFlight.free > 0;
  }

  async function claim(): Promise<OutboxRow[]> {
    if (!mayClaim()) return [];
    const taken = await claims.next();
    vacuum.claimed(taken.length);
    return taken;
  }

  async function checkOverdue(): Promise<void> {
    checking = true;
    try {
      await lookAfterOverdue({ ...deps, inFlight, isRunning: express.isRunning });
    } finally {
      checking = false;
    }
  }

  return {
    nudge() {
      news = true;
      if (failing || inFlight.brisk >= BUSY_IN_FLIGHT) return;
      const rested = performance.now() - roundEndedAt;
      if (rested >= MIN_REST_MS) wake();
      else setTimeout(() => wake(), MIN_REST_MS - rested).unref();
    },
    answered: (deliveryId) => inFlight.answered(deliveryId),
    recorded: freePlace,
    slotTaken: pacing.slotTaken,
    async stop() {
      stopping = true;
      wake();
      await ended;
      await Promise.all(aside);
      await express.drain();
      await vacuum.idle();
    },
  };
}

/** @throws the first error, when all have ended */
async function settleAll(works: Promise<void>[]): Promise<void> {
  const outcomes = await Promise.allSettled(works);
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure) throw failure.reason;
}

// The worker as one object: Temporal workers, the relay with its shards, and the loops beside it. process.ts adds
// settings and signals.

import { attemptDelivery } from '../activities/attempt/index.ts';
import { orEnd } from '../activities/attempt/outcomes.ts';
import type { ActivityDeps } from '../activities/index.ts';
import { type Log, throttled } from '../core/process/log.ts';
import { causeOf } from '../core/process/log-cause.ts';
import { eventLoopDelay } from '../core/metrics/process.ts';
import { watchLoop } from '../core/process/event-loop.ts';
import { PollLoop } from '../core/process/poll-loop.ts';
import type { Pool } from '../db/connections/pool.ts';
import { listenForDeliveries } from '../db/hot-path/outbox-listener.ts';
import { rollUp } from '../db/ledger/roll-up.ts';
import { sharedRest, dueOrdering } from './loops/due.ts';
import { dueCircuits } from './loops/due-workflows.ts';
import { startWorkerMetrics } from './metrics.ts';
import { keepDestinationSlots } from './relay/destination-slots.ts';
import { repairs } from './relay/overdue.ts';
import { startRelay } from './relay/relay.ts';
import { Shards } from './relay/shards.ts';
import type { RunningWorker } from './temporal/connect.ts';
import { keepRelease } from './temporal/release.ts';
import { keepSchedules } from './temporal/upkeep.ts';
import { activityDepsOf, startMainWorker, startSideWorkers } from './temporal/workers.ts';
import { buildParts, type RelayLink, version, type WorkerContext, type WorkerParts } from './worker-parts.ts';

/**
 * Connects and starts; resolves when deliveries are being processed. Stopping ends the claims, lets running attempts
 * finish, and closes everything.
 */
export async function runWorker(context: WorkerContext): Promise<RunningWorker> {
  const { tuning, log } = context;
  const link: RelayLink = {};
  const parts = await buildParts(context, link);
  const activityDeps = activityDepsOf(context, parts, link);
  const worker = await startMainWorker(parts, activityDeps);
  const loops = startLoops(context, parts, activityDeps, link);
  const workers = [worker, ...(await startSideWorkers(context, parts))];
  const silentAfterMs = tuning.releaseSilentSeconds * 1000;
  const release = keepRelease({ ...parts.common, prefix: parts.client.prefix, silentAfterMs });
  // Not before: loading modules takes longer.
  const stopWatching = watchLoop(log, eventLoopDelay);
  const metrics = await startWorkerMetrics({
    ...{ ...parts, ...parts.common, ...context, ...loops, version, worker, release },
    pools: { hot: parts.hotPool, commands: parts.pool, warehouses: parts.warehousePool },
    temporalMetrics: context.temporalMetrics?.text,
  });
  return {
    ended: Promise.all(workers.map(({ ended }) => ended)).then(() => undefined),
    isPolling: worker.isPolling,
    async stop() {
      metrics.ending();
      // A worker that ends takes no workflows over.
      const released = release.stop();
      await loops.relay.stop();
      await parts.due.stop();
      await Promise.all(workers.map((each) => each.stop()));
      // Not before: others would start what is still under way in activities. Its beat goes on until here.
      await loops.shards.release();
      await Promise.all([metrics.stop(), parts.traces.stop()]);
      await loops.listener.close();
      for (const loop of [loops.ledger, loops.slots, loops.schedules]) await loop.stop();
      await released;
      stopWatching();
      await closeParts(parts);
    },
  };
}

async function closeParts(parts: WorkerParts): Promise<void> {
  await parts.stopTemporal();
  await parts.parking.stop();
  await parts.results.idle();
  await parts.issues.close();
  await parts.threads.close();
  await parts.sender.close();
  for (const pool of [parts.hotPool, parts.pool, parts.warehousePool]) await pool.end();
  await parts.common.connection.close();
}

// Of what the relay keeps in flight: more would only queue in Temporal, where organizations share less well. Three
// quarters, which one organization may have, are 200.
const MOST_WORKFLOWS = 267;

const HOUR_MS = 3_600_000;

function startLoops(context: WorkerContext, parts: WorkerParts, activityDeps: ActivityDeps, link: RelayLink) {
  const { settings, tuning, database, log } = context;
  const { client, common, due, pool, owner, concurrency, lanes } = parts;
  const schedules = keepSchedules(client, common.connection, log);
  const onChange = () => {
    slots.wake();
    // What waits there was told to others.
    relay.onRoom();
  };
  const listener = listenForDeliveries(database.directUrl, {
    due: () => due.wake(),
    deliveries() {
      due.active();
      relay.wake();
    },
    workers: () => shards.wake(),
    log,
  });
  const shards = new Shards({ db: listener.db, name: owner, lane: lanes.current, version, onChange, log });
  const relay = startRelay({
    ...parts,
    shards,
    repairs,
    mostInFlight:
      settings.HOOKYARD_LANE === 'workflow' ? Math.min(tuning.maxInFlight, MOST_WORKFLOWS) : tuning.maxInFlight,
    // Routes may name this lane where the relay makes the attempts of others: they must not fill the slots of
    // activities.
    mostWorkflows: MOST_WORKFLOWS,
    makesAttempt: parts.retrySlots.isRunning,
    replayWindowMs: settings.HOOKYARD_REPLAY_WINDOW_HOURS * HOUR_MS,
    suspended: () => [...due.now.suspended],
    hears: () => listener.hears(),
    attempt: (request, inOrder) =>
      orEnd(activityDeps, request, () => attemptDelivery(activityDeps, request, 'express', inOrder)),
    drainMs: settings.HOOKYARD_SHUTDOWN_SECONDS * 1000,
    log,
  });
  link.relay = relay;
  const slots = keepDestinationSlots({ databaseUrl: database.directUrl, pool, log }, owner, concurrency, () =>
    relay.onRoom(),
  );
  const ledger = keepLedger({ pool, workers: () => concurrency.workers, log });
  due.add(dueCircuits({ pool, client, log }));
  due.add(dueOrdering(pool, parts.issues));
  return { schedules, shards, relay, slots, ledger, listener };
}

const EVERY_MS = 10_000;

/**
 * Rolls the entries of the ledger up. Nothing depends on when: readers add what is not rolled up.
 * @param workers how many are alive
 */
function keepLedger({ pool, workers, log }: { pool: Pool; workers: () => number; log: Log }): PollLoop {
  const rest = () => ({ ms: sharedRest(EVERY_MS, workers()) });
  return new PollLoop({
    round: async () => ((await rollUp(pool)) ? { ms: 0 } : rest()),
    onError(error) {
      throttled(log).warn({ cause: causeOf(error) }, 'failed to roll up the ledger; trying again');
      return rest();
    },
  });
}

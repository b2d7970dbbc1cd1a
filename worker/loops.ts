// The loops of a worker: the relay with its shards, and what runs beside it.
import { attemptDelivery } from '../activities/attempt/index.ts';
import { orEnd } from '../activities/attempt/or-end.ts';
import type { ActivityDeps } from '../activities/index.ts';
import { listenForDeliveries } from '../db/hot-path/outbox-listener.ts';
import { keepDestinationSlots } from './destination-slots.ts';
import { dueCircuits } from './due-workflows.ts';
import { keepLedger } from './ledger.ts';
import { type Relay, startRelay } from './relay/relay.ts';
import { holdShards, type Shards } from './relay/shards.ts';
import { keepSchedules } from './temporal-upkeep.ts';
import { type RelayLink, version, type WorkerContext, type WorkerParts } from './worker-parts.ts';

// Of what the relay keeps in flight: more would only queue in Temporal, where organizations share less well. Three quarters, which one
// organization may have, are 200.
const MOST_WORKFLOWS = 267;

const HOUR_MS = 3_600_000;

export type Loops = ReturnType<typeof startLoops>;

/** @param link gets the relay */
export function startLoops(context: WorkerContext, parts: WorkerParts, activityDeps: ActivityDeps, link: RelayLink) {
  const { database, log } = context;
  const { client, common, due, pool, owner, places, lanes } = parts;
  const schedules = keepSchedules(client, common.connection, log);
  const onChange = () => {
    slots.nudge();
    // What waits there was told to others.
    relay.onRoom();
  };
  const listener = listenForDeliveries(database.directUrl, {
    due: () => due.nudge(),
    deliveries() {
      due.active();
      relay.nudge();
    },
    workers: () => shards.nudge(),
    log,
  });
  const shards = holdShards({ db: listener.db, name: owner, lane: lanes.current, version, onChange, log });
  const relay = relayOf(context, parts, activityDeps, shards, () => listener.hears());
  link.relay = relay;
  const slots = keepDestinationSlots({ databaseUrl: database.directUrl, pool, log }, owner, places, () =>
    relay.onRoom(),
  );
  const ledger = keepLedger({ pool, workers: () => places.workers, log });
  due.add(dueCircuits({ pool, client, log }));
  return { schedules, shards, relay, slots, ledger, listener };
}

function relayOf(
  { settings, tuning, log }: WorkerContext,
  parts: WorkerParts,
  activityDeps: ActivityDeps,
  shards: Shards,
  hears: () => boolean,
): Relay {
  return startRelay({
    ...parts,
    shards,
    mostInFlight:
      settings.HOOKYARD_LANE === 'workflow' ? Math.min(tuning.maxInFlight, MOST_WORKFLOWS) : tuning.maxInFlight,
    // Routes may name this lane where the relay makes the attempts of others: they must not fill the slots of activities.
    mostWorkflows: MOST_WORKFLOWS,
    makesAttempt: parts.turns.isRunning,
    replayWindowMs: settings.HOOKYARD_REPLAY_WINDOW_HOURS * HOUR_MS,
    suspended: () => [...parts.due.now.suspended],
    hears,
    attempt: (request) => orEnd(activityDeps, request, () => attemptDelivery(activityDeps, request, 'express')),
    drainMs: settings.HOOKYARD_SHUTDOWN_SECONDS * 1000,
    log,
  });
}

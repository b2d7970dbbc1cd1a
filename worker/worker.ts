// The worker process as one object: Temporal worker, relay and everything they share. main.ts adds the process around it.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { attemptDelivery } from '../activities/attempt.ts';
import { createConfigCache } from '../activities/config-cache.ts';
import { createSender } from '../outbound/http/sender.ts';
import { type ActivityDeps, createActivities } from '../activities/index.ts';
import { PendingOpenings } from '../activities/pending-openings.ts';
import { orEnd } from '../activities/or-end.ts';
import { startParking } from '../activities/parking.ts';
import { createContextLoader, createResultRecorder } from '../activities/results.ts';
import { createTransforms } from '../outbound/transforms/index.ts';
import type { Settings } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import { workflowLinks } from '../core/temporal-link.ts';
import { SecretBox } from '../db/encryption.ts';
import { loadEncryptionKeys } from '../db/encryption-keys.ts';
import { createPool, type Pool } from '../db/pool.ts';
import type { TemporalConnection } from '../temporal-config/connection.ts';
import { temporalDataConverter } from '../temporal-config/payload-codec.ts';
import { TASK_QUEUE } from '../core/workflow-names.ts';
import { watchCircuits } from './circuits.ts';
import { type EventReplays, startEventReplays } from './event-replays.ts';
import { createLatencies } from './latencies.ts';
import { withLeanSandbox } from './lean-sandbox.ts';
import { type Notifications, startNotifications } from './notifications.ts';
import { listenForDeliveries } from './outbox-listener.ts';
import { type Relay, startRelay } from './relay.ts';
import { keepSchedules } from './schedules.ts';
import { holdShards, type Shards } from './shards.ts';
import { temporalLogger } from './temporal-log.ts';
import { startWarehouseFlushes, type WarehouseFlushes } from './warehouse-flushes.ts';
import { bundleWorkflows } from './workflow-bundle.ts';

// Slots are fixed, and well above what the relay keeps in flight: an eager start without a free slot would silently
// become an ordinary one. The cache holds every workflow that waits for a retry in the common case.
const WORKFLOW_TASK_SLOTS = 500;
const CACHED_WORKFLOWS = 5000;
const STATEMENT_TIMEOUT_MS = 10_000;
// How long an activity waits for its result to be recorded. Less than the margin the workflow leaves for it.
const AWAIT_RECORD_MS = 30_000;

const HOUR_MS = 3_600_000;

export interface RunningWorker {
  /** Rejects when Temporal's worker ends by an error. */
  ended: Promise<void>;
  /** Stops claiming, lets running attempts finish, closes everything. */
  stop(): Promise<void>;
}

/** Connects and starts; resolves when deliveries are being made. */
export async function runWorker(
  settings: Settings,
  databaseUrl: string,
  temporal: TemporalConnection,
  log: Log,
): Promise<RunningWorker> {
  const keys = loadEncryptionKeys(settings);
  const secretBox = new SecretBox(keys);
  const dataConverter = temporalDataConverter(settings.HOOKYARD_TEMPORAL_CODEC, keys);
  const [connection, workflowBundle] = await Promise.all([
    NativeConnection.connect(temporal.connectionOptions),
    bundleWorkflows(temporalLogger(log)),
  ]);
  const client = new Client({ connection, namespace: temporal.namespace, dataConverter });
  const { hotPool, pool, warehousePool } = openPools(settings, databaseUrl, log);
  const sender = createSender({ allow: settings.HOOKYARD_DELIVERY_ALLOW });
  const transforms = createTransforms(settings.HOOKYARD_TRANSFORM_THREADS);
  const latencies = createLatencies();
  const results = createResultRecorder(hotPool, log);
  const configs = createConfigCache(hotPool, secretBox);
  const parking = await startParking(
    { client, log },
    { total: settings.HOOKYARD_MAX_PARKED, perOrganization: settings.HOOKYARD_MAX_PARKED_PER_ORGANIZATION },
  );
  let relay: Relay | undefined;
  const activityDeps: ActivityDeps = {
    pool,
    secretBox,
    settings,
    log,
    sender,
    transforms,
    results,
    parking,
    awaitRecordMs: AWAIT_RECORD_MS,
    pendingOpenings: new PendingOpenings(),
    contexts: createContextLoader(hotPool),
    configs,
    observeLatency: (destinationId, latencyMs) => latencies.observe(destinationId, latencyMs),
    onSlot: (destinationId, deliveryId) => relay?.slotTaken(destinationId, deliveryId),
    headerPrefix: settings.HOOKYARD_HEADER_PREFIX,
    version: ownVersion(),
    onAnswered: (deliveryId) => relay?.answered(deliveryId),
    onRecorded: (deliveryId) => relay?.recorded(deliveryId),
    client,
  };
  const activities = createActivities(activityDeps);
  const create = () =>
    Worker.create({
      connection,
      namespace: temporal.namespace,
      taskQueue: TASK_QUEUE,
      workflowBundle,
      dataConverter,
      activities,
      maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASK_SLOTS,
      maxConcurrentLocalActivityExecutions: WORKFLOW_TASK_SLOTS,
      maxConcurrentActivityTaskExecutions: WORKFLOW_TASK_SLOTS,
      maxCachedWorkflows: CACHED_WORKFLOWS,
      shutdownGraceTime: settings.HOOKYARD_SHUTDOWN_SECONDS * 1000,
      shutdownForceTime: settings.HOOKYARD_SHUTDOWN_SECONDS * 1000 + 2000,
    });
  const worker = await (settings.HOOKYARD_LEAN_SANDBOX ? withLeanSandbox(create) : create());
  const ended = worker.run();
  const schedules = keepSchedules(client, connection, log);
  const shards = holdShards(hotPool, `${hostname()}:${process.pid}:${randomUUID()}`, log);
  const running = startRelay({
    hotPool,
    pool,
    client,
    shards,
    latencies,
    parking,
    limits: { total: settings.HOOKYARD_MAX_IN_FLIGHT, perDestination: settings.HOOKYARD_MAX_IN_FLIGHT_PER_DESTINATION },
    replayWindowMs: settings.HOOKYARD_REPLAY_WINDOW_HOURS * HOUR_MS,
    lane: settings.HOOKYARD_LANE,
    attempt: (request) => orEnd(activityDeps, request, () => attemptDelivery(activityDeps, request, 'express')),
    drainMs: settings.HOOKYARD_SHUTDOWN_SECONDS * 1000,
    log,
  });
  relay = running;
  const circuits = watchCircuits({ pool, client, log });
  const listener = listenForDeliveries(
    databaseUrl,
    (news) => (news === 'circuits' ? circuits.nudge() : running.nudge()),
    log,
  );
  const notifications = await startNotifications({
    connection,
    namespace: temporal.namespace,
    dataConverter,
    client,
    pool,
    settings,
    workflowLink: workflowLinks(settings, temporal),
    log,
  });
  const replays = await startEventReplays({
    connection,
    namespace: temporal.namespace,
    dataConverter,
    client,
    pool,
    settings,
    log,
  });
  const warehouses = await startWarehouseFlushes({
    connection,
    namespace: temporal.namespace,
    dataConverter,
    client,
    hotPool,
    pool: warehousePool,
    commandPool: pool,
    secretBox,
    configs,
    transforms,
    settings,
    log,
  });
  const others = [notifications, replays, warehouses];
  return {
    ended: Promise.all([ended, ...others.map((other) => other.ended)]).then(() => undefined),
    stop: () =>
      stopInOrder(running, shards, worker, ended, others, [
        () => listener.close(),
        () => circuits.stop(),
        () => schedules.stop(),
        () => parking.stop(),
        () => results.idle(),
        () => transforms.close(),
        () => sender.close(),
        () => closeAll([hotPool, pool, warehousePool], connection),
      ]),
  };
}

async function stopInOrder(
  relay: Relay,
  shards: Shards,
  worker: Worker,
  ended: Promise<void>,
  others: (Notifications | EventReplays | WarehouseFlushes)[],
  closers: (() => Promise<void>)[],
): Promise<void> {
  await relay.stop();
  await shards.release();
  if (worker.getState() === 'RUNNING') worker.shutdown();
  // A forced end after the grace time rejects; what was cut off is made again by the next worker.
  await Promise.all([ended.catch(() => undefined), ...others.map((other) => other.stop())]);
  for (const close of closers) await close();
}

// Commands (cancel, replay, housekeeping) are rare and planned by their filters; they must not wait behind the hot path.
const COMMAND_CONNECTIONS = 4;
// Looks at what waits for warehouses read much; opened when there is something to write.
const WAREHOUSE_CONNECTIONS = 4;

function openPools(
  settings: Settings,
  databaseUrl: string,
  log: Log,
): { hotPool: Pool; pool: Pool; warehousePool: Pool } {
  const common = {
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onError: (error: Error) => log.warn({ error: error.message }, 'an idle database connection broke'),
  };
  return {
    hotPool: createPool(databaseUrl, { ...common, max: settings.HOOKYARD_DATABASE_POOL, hotPath: true }),
    pool: createPool(databaseUrl, { ...common, max: COMMAND_CONNECTIONS }),
    warehousePool: createPool(databaseUrl, { ...common, max: WAREHOUSE_CONNECTIONS }),
  };
}

async function closeAll(pools: Pool[], connection: NativeConnection): Promise<void> {
  for (const pool of pools) await pool.end();
  await connection.close();
}

function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}

// The worker as one object: Temporal worker, relay and everything they share. main.ts adds settings and signals.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { Client } from '@temporalio/client';
import { NativeConnection, type WorkflowBundleOption } from '@temporalio/worker';
import { attemptDelivery } from '../activities/attempt/index.ts';
import { createConfigCache } from '../activities/config-cache.ts';
import { systemResolve } from '../outbound/http/guarded-connect.ts';
import { createOwnServices } from '../outbound/http/own-services.ts';
import { createSender } from '../outbound/http/sender.ts';
import { type ActivityDeps, createActivities } from '../activities/index.ts';
import { PendingOpenings } from '../activities/attempt/pending-openings.ts';
import { orEnd } from '../activities/attempt/or-end.ts';
import { startParking } from '../activities/parking.ts';
import { createContextLoader, createResultRecorder } from '../activities/attempt/results.ts';
import { createTurns } from '../activities/attempt/turn.ts';
import { createCompute } from '../outbound/compute/index.ts';
import { createTransforms } from '../outbound/transforms/index.ts';
import { publicUrl, type Settings } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import { watchLoop } from '../core/loop-delay.ts';
import { addressesUnder } from '../core/own-address.ts';
import { Places } from '../core/places.ts';
import { workflowLinks } from '../core/temporal-link.ts';
import { SecretBox } from '../db/encryption/secret-box.ts';
import { loadEncryptionKeys } from '../db/encryption/keys.ts';
import { createStandings, transformBudgets } from '../db/organizations/standing.ts';
import { recipientRule } from '../core/notify-recipients.ts';
import { ownServices } from '../core/own-services.ts';
import { watchOrganizations } from '../db/organizations/several.ts';
import { createPool, type Pool } from '../db/pool.ts';
import { shareConnections } from '../db/pool-turns.ts';
import type { TemporalConnection } from '../temporal-config/connection.ts';
import { temporalDataConverter } from '../temporal-config/payload-codec.ts';
import { TASK_QUEUE } from '../core/workflow-names.ts';
import { watchCircuits } from './circuits.ts';
import { startEventReplays } from './event-replays.ts';
import { createLatencies } from './latencies.ts';
import { withLeanSandbox } from './lean-sandbox.ts';
import { startNotifications } from './notifications.ts';
import { listenForDeliveries } from '../db/hot-path/outbox-listener.ts';
import { type Relay, startRelay } from './relay.ts';
import { keepSchedules } from './schedules.ts';
import { holdShards, type Shards } from './shards.ts';
import { watchSuspensions } from './suspensions.ts';
import { temporalLogger } from './temporal-log.ts';
import { createWorker, type RunningWorker, run, type WorkerDeps } from './temporal-worker.ts';
import { startWarehouseFlushes } from './warehouse-flushes.ts';
import { bundleWorkflows } from './workflow-bundle.ts';

// Slots are fixed, and well above what the relay keeps in flight: an eager start without a free slot would silently
// become an ordinary one. The cache holds every workflow that waits for a retry in the common case.
const WORKFLOW_TASK_SLOTS = 500;
const ACTIVITY_SLOTS = WORKFLOW_TASK_SLOTS;
const CACHED_WORKFLOWS = 5000;
// Circuits that release what they hold at a time: each asks the database many times a second.
const CIRCUIT_RELEASES = 32;
const STATEMENT_TIMEOUT_MS = 10_000;
// Results of several organizations are recorded together: one that keeps a row locked must not hold up the others for long.
const HOT_LOCK_TIMEOUT_MS = 1000;
// How long an activity waits for its result to be recorded. Less than the margin the workflow leaves for it.
const AWAIT_RECORD_MS = 30_000;

const HOUR_MS = 3_600_000;

/**
 * Connects and starts; resolves when deliveries are being processed. Stopping ends the claims, lets running attempts finish, and
 * closes everything.
 */
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
  const organizations = await watchOrganizations(pool, settings, log);
  const own = createOwnServices(ownServices(settings, temporal.connectionOptions.address), systemResolve);
  const reach = { allow: settings.HOOKYARD_DELIVERY_ALLOW, own, severalOrganizations: organizations.areSeveral };
  const sender = createSender({ ...reach, publicUrl: () => publicUrl(settings) });
  const transforms = createTransforms(settings.HOOKYARD_TRANSFORM_THREADS, transformBudgets(createStandings(pool)));
  const compute = createCompute({ threads: settings.HOOKYARD_COMPUTE_THREADS, log });
  const latencies = createLatencies();
  const results = createResultRecorder(hotPool, log);
  const configs = createConfigCache(hotPool, secretBox, addressesUnder(publicUrl(settings)));
  const alone = () => !organizations.areSeveral();
  shareConnections(pool, { max: COMMAND_CONNECTIONS, alone });
  const turns = createTurns(pool, ACTIVITY_SLOTS, alone);
  const parking = await startParking(
    { client, log },
    { total: settings.HOOKYARD_MAX_PARKED, perOrganization: settings.HOOKYARD_MAX_PARKED_PER_ORGANIZATION },
  );
  let relay: Relay | undefined;
  const suspensions = await watchSuspensions({ pool, log }, () => relay?.nudge());
  const activityDeps: ActivityDeps = {
    pool,
    secretBox,
    settings,
    log,
    sender,
    transforms,
    compute,
    results,
    parking,
    turns,
    releases: new Places(CIRCUIT_RELEASES, alone),
    awaitRecordMs: AWAIT_RECORD_MS,
    pendingOpenings: new PendingOpenings(),
    isSuspended: suspensions.has,
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
  const common: WorkerDeps = { connection, namespace: temporal.namespace, dataConverter, settings, log };
  const worker = await startMainWorker(common, settings, workflowBundle, createActivities(activityDeps));
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
    alone,
    makesAttempt: turns.isRunning,
    replayWindowMs: settings.HOOKYARD_REPLAY_WINDOW_HOURS * HOUR_MS,
    lane: settings.HOOKYARD_LANE,
    suspended: suspensions.ids,
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
  const workflowLink = workflowLinks(settings, temporal);
  const rule = () => recipientRule(settings.HOOKYARD_NOTIFY_RECIPIENTS, organizations.areSeveral());
  const flushPools = { hotPool, pool: warehousePool, commandPool: pool };
  const warehouseDeps = { alone, client, ...flushPools, secretBox, configs, transforms, compute };
  const others = [
    await startNotifications({ ...common, client, pool, secretBox, settings, workflowLink, recipientRule: rule }),
    await startEventReplays({ ...common, client, pool, compute }),
    await startWarehouseFlushes({ ...common, ...warehouseDeps, reach, settings }),
  ];
  const workers = [worker, ...others];
  // Not before: loading modules takes longer.
  const stopWatching = watchLoop(log);
  return {
    ended: Promise.all(workers.map(({ ended }) => ended)).then(() => undefined),
    stop: () =>
      stopInOrder(running, shards, workers, [
        () => listener.close(),
        () => circuits.stop(),
        () => suspensions.stop(),
        () => schedules.stop(),
        () => parking.stop(),
        () => results.idle(),
        () => transforms.close(),
        () => compute.close(),
        async () => stopWatching(),
        () => sender.close(),
        () => organizations.stop(),
        () => closeAll([hotPool, pool, warehousePool], connection),
      ]),
  };
}

async function startMainWorker(
  deps: WorkerDeps,
  { HOOKYARD_LEAN_SANDBOX }: Settings,
  workflowBundle: WorkflowBundleOption,
  activities: object,
): Promise<RunningWorker> {
  const create = () =>
    createWorker(deps, {
      taskQueue: TASK_QUEUE,
      workflowBundle,
      activities,
      maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASK_SLOTS,
      maxConcurrentLocalActivityExecutions: WORKFLOW_TASK_SLOTS,
      maxConcurrentActivityTaskExecutions: ACTIVITY_SLOTS,
      maxCachedWorkflows: CACHED_WORKFLOWS,
    });
  return run(await (HOOKYARD_LEAN_SANDBOX ? withLeanSandbox(create) : create()));
}

async function stopInOrder(
  relay: Relay,
  shards: Shards,
  workers: RunningWorker[],
  closers: (() => Promise<void>)[],
): Promise<void> {
  await relay.stop();
  await shards.release();
  await Promise.all(workers.map((worker) => worker.stop()));
  for (const close of closers) await close();
}

// Commands (cancel, replay, housekeeping) are rare and their query plans depend on their filters; they must not queue behind the
// hot path.
const COMMAND_CONNECTIONS = 4;
// Polls for warehouses read much; the pool is opened when there is something to write.
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
    hotPool: createPool(databaseUrl, {
      ...common,
      max: settings.HOOKYARD_DATABASE_POOL,
      lockTimeoutMs: HOT_LOCK_TIMEOUT_MS,
      hotPath: true,
    }),
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

// The worker as one object: Temporal worker, relay and everything they share. main.ts adds settings and signals.
import { randomUUID } from 'node:crypto';
import { availableParallelism, hostname } from 'node:os';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { attemptDelivery } from '../activities/attempt/index.ts';
import { createConfigCache } from '../activities/config-cache.ts';
import { systemResolve } from '../outbound/http/guarded-connect.ts';
import { createOwnServices } from '../outbound/http/own-services.ts';
import { createSender } from '../outbound/http/sender.ts';
import { type ActivityDeps, createActivities } from '../activities/index.ts';
import { PayloadMemory } from '../activities/attempt/payload-memory.ts';
import { PendingOpenings } from '../activities/attempt/pending-openings.ts';
import { orEnd } from '../activities/attempt/or-end.ts';
import { startParking } from '../activities/parking.ts';
import { createContextLoader, createResultRecorder } from '../activities/attempt/results.ts';
import { createTurns } from '../activities/attempt/turn.ts';
import { createCompute } from '../outbound/compute/index.ts';
import { createTransforms } from '../outbound/transforms/index.ts';
import { publicUrl, type Settings } from '../core/config.ts';
import { workerConnections } from '../core/database-connections.ts';
import { operatorAccess } from '../core/warehouse/operator-access.ts';
import { DestinationPlaces } from '../core/destination-places.ts';
import type { LaneSetting } from '../core/lane.ts';
import type { Log } from '../core/log.ts';
import { watchLoop } from '../core/loop-delay.ts';
import { addressesUnder } from '../core/own-address.ts';
import { Places } from '../core/places.ts';
import { workflowLinks } from '../core/temporal-link.ts';
import { PER_PROCESSOR, WorkflowTurns } from '../core/workflow-turns.ts';
import { SecretBox } from '../db/encryption/secret-box.ts';
import { loadEncryptionKeys } from '../db/encryption/keys.ts';
import { createStandings, transformBudgets } from '../db/organizations/standing.ts';
import { recipientRule } from '../core/notify-recipients.ts';
import { onThisMachine, ownServices } from '../core/own-services.ts';
import { CountedIssues } from '../db/issues/counted.ts';
import { watchOrganizations } from '../db/organizations/several.ts';
import { shareConnections } from '../db/connections/pool-turns.ts';
import type { TemporalConnection } from '../temporal-config/connection.ts';
import packageJson from '../package.json' with { type: 'json' };
import { watchCircuits } from './circuits.ts';
import { connectToTemporal } from './connect.ts';
import { exchangeConcurrency } from './concurrency-exchange.ts';
import { startEventReplays } from './event-replays.ts';
import { createLaneChoice } from './lane-choice.ts';
import { createLaneReport } from './lane-report.ts';
import { createLatencies } from './latencies.ts';
import { withLeanSandbox } from './lean-sandbox.ts';
import { startTracing } from '../telemetry/tracing.ts';
import { startWorkerMetrics } from './metrics.ts';
import { startAlerts } from './alerts.ts';
import { peopleLinks, startNotifications } from './notifications.ts';
import type { Database } from '../db/connections/database.ts';
import { listenForDeliveries } from '../db/hot-path/outbox-listener.ts';
import { closeAll, openPools } from './pools.ts';
import { keepRelease } from './release.ts';
import { type Relay, startRelay } from './relay.ts';
import { keepSchedules } from './schedules.ts';
import { holdSession } from '../db/hot-path/relay-session.ts';
import { holdShards, type Shards } from './shards.ts';
import { watchSuspensions } from './suspensions.ts';
import type { TemporalMetrics } from './temporal-metrics.ts';
import { createWorker, type RunningWorker, run, type WorkerDeps } from './temporal-worker.ts';
import { startWarehouseFlushes } from './warehouse-flushes.ts';

// Slots are fixed. Of workflow tasks, there are as many as workflows in flight: an eager start without a free slot becomes an ordinary
// one. More would not make them faster. When many workflows start at once, every task would wait here for its turn, longer than Temporal
// waits for it (10 s); it would be made again elsewhere, and what was done of it be lost.
const WORKFLOW_TASK_SLOTS = 200;
const ACTIVITY_SLOTS = 500;
const CACHED_WORKFLOWS = 5000;
// Circuits that release what they hold at a time: each asks the database many times a second.
const CIRCUIT_RELEASES = 32;
// What the relay keeps in flight. As workflows, more would only queue in Temporal, where organizations share less well; an attempt of
// the relay itself takes a socket and its payload, so 1500 hold 1,000/s to a destination of 300 ms beside others.
const MOST_WORKFLOWS = 200;
const MOST_IN_FLIGHT: Record<LaneSetting, number> = { adaptive: 1500, workflow: MOST_WORKFLOWS, express: 1500 };
// The large payloads of all attempts together. One of an organization that is not alone has half of it.
const LARGE_BODY_BYTES = 256 * 1024 * 1024;
// How long an attempt waits for room among them, with its place in flight. Then it waits outside of this process.
const BODY_WAIT_MS = 5000;
// How long an activity waits for its result to be recorded. Less than the margin the workflow leaves for it.
const AWAIT_RECORD_MS = 30_000;

const HOUR_MS = 3_600_000;

/**
 * Connects and starts; resolves when deliveries are being processed. Stopping ends the claims, lets running attempts finish, and
 * closes everything.
 * @param env of the process, with the secrets that are in files
 * @param temporalMetrics those of Temporal's SDK
 */
export async function runWorker(
  settings: Settings,
  env: Record<string, string | undefined>,
  database: Database,
  temporal: TemporalConnection,
  log: Log,
  temporalMetrics?: Pick<TemporalMetrics, 'port' | 'text'>,
): Promise<RunningWorker> {
  const { version } = packageJson;
  const keys = loadEncryptionKeys(settings);
  const secretBox = new SecretBox(keys);
  const connected = await connectToTemporal(settings, temporal, { keys, version, log });
  const { client, workflowBundle, attributes, common } = connected;
  const { connection } = common;
  const { hotPool, pool, warehousePool } = openPools(settings, database, log);
  const organizations = await watchOrganizations(pool, settings, log);
  const own = createOwnServices(ownServices(settings, temporal.connectionOptions.address), systemResolve);
  own.add(onThisMachine(temporalMetrics?.port ?? 0));
  const reach = { allow: settings.HOOKYARD_DELIVERY_ALLOW, own, severalOrganizations: organizations.areSeveral };
  const sender = createSender({ ...reach, publicUrl: () => publicUrl(settings) });
  const transforms = createTransforms(settings.HOOKYARD_TRANSFORM_THREADS, transformBudgets(createStandings(pool)));
  const compute = createCompute({ threads: settings.HOOKYARD_COMPUTE_THREADS, log });
  const latencies = createLatencies();
  const places = new DestinationPlaces(settings.HOOKYARD_MAX_IN_FLIGHT_PER_DESTINATION);
  // Until it has seen the others.
  places.setShare({ workers: 1, rank: 0, alive: null });
  const mostInFlight = settings.HOOKYARD_MAX_IN_FLIGHT ?? MOST_IN_FLIGHT[settings.HOOKYARD_LANE];
  let relay: Relay | undefined;
  const owner = `${hostname()}:${process.pid}:${randomUUID()}`;
  const laneReport = createLaneReport(pool, owner);
  const lanes = createLaneChoice({ lane: settings.HOOKYARD_LANE, report: laneReport.write, log });
  const recoverySeconds = settings.HOOKYARD_ISSUE_RECOVERY_SECONDS;
  const issues = new CountedIssues({ pool, recoverySeconds, log });
  const results = createResultRecorder(hotPool, log, issues, (deliveryId) => relay?.isAwaited(deliveryId) ?? false);
  const configs = createConfigCache(hotPool, secretBox, addressesUnder(publicUrl(settings)));
  const alone = () => !organizations.areSeveral();
  shareConnections(pool, { max: workerConnections(settings).commands, reserved: 1, alone });
  const workflowTurns = new WorkflowTurns({ perSecond: PER_PROCESSOR * availableParallelism(), alone });
  const turns = createTurns({ pool, slots: ACTIVITY_SLOTS, alone, workflowTurns });
  const parking = await startParking(
    { client, log },
    { total: settings.HOOKYARD_MAX_PARKED, perOrganization: settings.HOOKYARD_MAX_PARKED_PER_ORGANIZATION },
  );
  const suspensions = await watchSuspensions({ pool, log }, () => relay?.nudge());
  const traces = await startTracing({ role: 'worker', version, env, log });
  const activityDeps: ActivityDeps = {
    pool,
    secretBox,
    settings,
    log,
    sender,
    transforms,
    compute,
    results,
    issues,
    parking,
    turns,
    workflowTurns,
    releases: new Places(CIRCUIT_RELEASES, alone),
    awaitRecordMs: AWAIT_RECORD_MS,
    pendingOpenings: new PendingOpenings(),
    isSuspended: suspensions.has,
    contexts: createContextLoader(hotPool),
    bodies: new PayloadMemory(LARGE_BODY_BYTES, BODY_WAIT_MS, alone),
    configs,
    places,
    hasPlace: (deliveryId) => relay?.hasPlace(deliveryId) ?? false,
    onRoom: () => relay?.onRoom(),
    observeLatency: (destinationId, latencyMs) => latencies.observe(destinationId, latencyMs),
    onSlot: (destinationId, deliveryId) => relay?.slotTaken(destinationId, deliveryId),
    tracing: traces.tracing,
    headerPrefix: settings.HOOKYARD_HEADER_PREFIX,
    version,
    countsDestinations: settings.HOOKYARD_METRICS_PER_DESTINATION,
    onBegun: lanes.begun,
    onAnswered: (deliveryId) => relay?.answered(deliveryId),
    onRecorded: (deliveryId) => relay?.recorded(deliveryId),
    client,
  };
  const worker = await startMainWorker(common, settings, workflowBundle, createActivities(activityDeps));
  const schedules = keepSchedules(client, connection, log);
  const session = holdSession(database.directUrl, owner, () => shards.hadTrouble(), log);
  const shards = holdShards({ pool: hotPool, name: owner, session, log });
  const running = startRelay({
    hotPool,
    pool,
    client,
    shards,
    latencies,
    parking,
    places,
    mostInFlight,
    // Routes may name this lane where the relay makes the attempts of others: they must not fill the slots of activities.
    mostWorkflows: settings.HOOKYARD_LANE === 'workflow' ? mostInFlight : MOST_WORKFLOWS,
    alone,
    makesAttempt: turns.isRunning,
    replayWindowMs: settings.HOOKYARD_REPLAY_WINDOW_HOURS * HOUR_MS,
    lanes,
    workflowTurns,
    suspended: suspensions.ids,
    attempt: (request) => orEnd(activityDeps, request, () => attemptDelivery(activityDeps, request, 'express')),
    drainMs: settings.HOOKYARD_SHUTDOWN_SECONDS * 1000,
    log,
  });
  relay = running;
  const exchange = exchangeConcurrency({ pool, log }, owner, places);
  const circuits = watchCircuits({ pool, client, log });
  const listener = listenForDeliveries(
    database.directUrl,
    (news) => (news === 'circuits' ? circuits.nudge() : running.nudge()),
    log,
  );
  const workflowLink = workflowLinks(settings, temporal);
  const rule = () => recipientRule(settings.HOOKYARD_NOTIFY_RECIPIENTS, organizations.areSeveral());
  const flushPools = { hotPool, pool: warehousePool, commandPool: pool };
  const warehouseDeps = { alone, client, ...flushPools, secretBox, configs, transforms, compute, issues };
  const others = [
    await startNotifications({
      ...common,
      client,
      pool,
      secretBox,
      settings,
      workflowLink,
      recipientRule: rule,
      issues,
    }),
    await startAlerts({
      ...{ ...common, client, pool, secretBox, settings, recipientRule: rule, sender, version },
      ...peopleLinks(settings),
    }),
    await startEventReplays({ ...common, client, pool, compute, settings }),
    await startWarehouseFlushes({
      ...common,
      ...warehouseDeps,
      reach,
      settings,
      access: operatorAccess(settings, env),
    }),
  ];
  const workers = [worker, ...others];
  const release = keepRelease({ ...common, prefix: client.prefix });
  // Not before: loading modules takes longer.
  const stopWatching = watchLoop(log);
  const metrics = await startWorkerMetrics({
    ...common,
    attributes,
    settings,
    version,
    pools: { hot: hotPool, commands: pool, warehouses: warehousePool },
    shards,
    relay: running,
    worker,
    places,
    workflowTurns,
    temporalMetrics: temporalMetrics?.text,
    env,
  });
  return {
    ended: Promise.all(workers.map(({ ended }) => ended)).then(() => undefined),
    isPolling: worker.isPolling,
    stop() {
      metrics.ending();
      return stopInOrder(running, shards, workers, [
        () => Promise.all([metrics.stop(), traces.stop()]).then(() => undefined),
        async () => lanes.stop(),
        () => laneReport.stop(),
        () => listener.close(),
        () => session.close(),
        () => circuits.stop(),
        () => exchange.stop(),
        () => suspensions.stop(),
        () => schedules.stop(),
        () => release.stop(),
        () => connected.stop(),
        () => parking.stop(),
        () => results.idle(),
        () => issues.close(),
        () => transforms.close(),
        () => compute.close(),
        async () => stopWatching(),
        () => sender.close(),
        () => organizations.stop(),
        () => closeAll([hotPool, pool, warehousePool], connection),
      ]);
    },
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
      taskQueue: deps.taskQueue,
      workflowBundle,
      activities,
      maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASK_SLOTS,
      maxConcurrentLocalActivityExecutions: ACTIVITY_SLOTS,
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
  await Promise.all(workers.map((worker) => worker.stop()));
  // Not before: others would start what is still under way in activities. The lease is renewed until here.
  await shards.release();
  for (const close of closers) await close();
}

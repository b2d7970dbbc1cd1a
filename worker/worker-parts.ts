// What the relay, the activities and the side workers of a process share: connections, what leaves the process, limits
// and watchers.
import { randomUUID } from 'node:crypto';
import { availableParallelism, hostname } from 'node:os';
import { createResultRecorder } from '../activities/attempt/results.ts';
import { createRetrySlots } from '../activities/attempt/retry-slots.ts';
import { createConfigCache } from '../activities/config-cache.ts';
import { startParking } from '../activities/parking.ts';
import { publicUrl, type Settings } from '../core/config/config.ts';
import { workerConnections } from '../core/config/database-connections.ts';
import type { Tuning } from '../core/config/tuning.ts';
import { DestinationConcurrency } from '../core/delivery/destination-concurrency.ts';
import { PERMITS_PER_PROCESSOR, WorkflowPermits } from '../core/fairness/workflow-permits.ts';
import { addressesUnder } from '../core/http/urls.ts';
import { onThisMachine, ownServices } from '../core/http/addresses.ts';
import { type Log, throttled } from '../core/process/log.ts';
import { causeOf } from '../core/process/log-cause.ts';
import { shareConnections } from '../db/connections/by-organization.ts';
import type { Database } from '../db/connections/client.ts';
import { createPool, type Pool } from '../db/connections/pool.ts';
import { loadEncryptionKeys } from '../db/encryption/keys.ts';
import { SecretBox } from '../db/encryption/secret-box.ts';
import { createStandings, transformBudgets } from '../db/hot-path/routing.ts';
import { liveWorkers } from '../db/hot-path/shards.ts';
import { CountedIssues } from '../db/issues/counted.ts';
import { resolveRecovered } from '../db/issues/record-issues.ts';
import { tellLoopback } from '../db/organizations/organizations.ts';
import { createLookUps, systemResolve } from '../outbound/http/guarded-connect.ts';
import { createOwnServices } from '../outbound/http/protected-services.ts';
import { createSender } from '../outbound/http/sender.ts';
import { createThreads } from '../outbound/threads/index.ts';
import packageJson from '../package.json' with { type: 'json' };
import { startTracing } from '../telemetry/tracing.ts';
import type { TemporalConnection } from '../temporal-config/client.ts';
import { type DuePart, lookAtDue } from './loops/due.ts';
import { createLaneChoice } from './relay/lane-choice.ts';
import type { Relay } from './relay/relay.ts';
import { connectToTemporal } from './temporal/connect.ts';
import type { TemporalMetrics } from './temporal/metrics.ts';

/** Activities of a kind (local or not) that run at a time. */
export const ACTIVITY_SLOTS = 500;
export const { version } = packageJson;
const RESOLVE_EVERY_MS = 5000;

export interface WorkerContext {
  settings: Settings;
  tuning: Tuning;
  /** Of the process, with the secrets that are in files. */
  env: Record<string, string | undefined>;
  database: Database;
  temporal: TemporalConnection;
  log: Log;
  /** Those of Temporal's SDK. */
  temporalMetrics?: Pick<TemporalMetrics, 'port' | 'text'> | undefined;
}

/** The relay, for what is made before it and used after its start. */
export interface RelayLink {
  relay?: Relay;
}

export type WorkerParts = Awaited<ReturnType<typeof buildParts>>;

export async function buildParts(context: WorkerContext, link: RelayLink) {
  const { settings, tuning, env, database, temporal, log } = context;
  const keys = loadEncryptionKeys(settings);
  const secretBox = new SecretBox(keys);
  const connected = await connectToTemporal(settings, temporal, { keys, version, log });
  const pools = openPools(settings, database, log);
  const { hotPool, pool } = pools;
  const due = await lookAtDue({
    pool: hotPool,
    recoverySeconds: tuning.issueRecoverySeconds,
    onChange: (before, now) => {
      tellSuspensions(log, before.suspended, now.suspended, () => link.relay?.wake());
      tellLoopback(settings, log, before.severalOrganizations, now.severalOrganizations);
    },
    log,
  });
  due.add(recoveries(pool, tuning));
  const areSeveral = () => due.now.severalOrganizations;

  const concurrency = new DestinationConcurrency(tuning.maxInFlightPerDestination);
  const owner = `${hostname()}:${process.pid}:${randomUUID()}`;
  concurrency.workers = await liveWorkers(pool, owner);
  shareConnections(pool, workerConnections(settings).commands - 1);
  const workflowPermits = new WorkflowPermits({
    permits: PERMITS_PER_PROCESSOR * availableParallelism(),
    alone: () => !areSeveral(),
  });
  const issues = new CountedIssues({ pool, log });
  const parking = await startParking(
    { client: connected.client, log },
    { total: tuning.maxParked, perOrganization: tuning.maxParkedPerOrganization },
  );
  const traces = await startTracing({ role: 'worker', version, env, log });
  return {
    ...connected,
    ...pools,
    ...openOutbound(context, pool, areSeveral),
    secretBox,
    due,
    areSeveral,
    concurrency,
    owner,
    workflowPermits,
    issues,
    parking,
    traces,
    lanes: createLaneChoice({ lane: settings.HOOKYARD_LANE, permits: workflowPermits, log }),
    results: createResultRecorder(hotPool, log, issues, (id) => link.relay?.isAwaited(id) ?? false),
    configs: createConfigCache(hotPool, secretBox, addressesUnder(publicUrl(settings))),
    retrySlots: createRetrySlots({ pool, slots: ACTIVITY_SLOTS, workflowPermits }),
  };
}

function recoveries(pool: Pool, { issueRecoverySeconds }: Tuning): DuePart {
  return {
    what: 'issues',
    kinds: ['recovered'],
    everyMs: () => Math.min(RESOLVE_EVERY_MS, issueRecoverySeconds * 1000),
    async round() {
      await resolveRecovered(pool, issueRecoverySeconds);
      return null;
    },
  };
}

function tellSuspensions(log: Log, before: ReadonlySet<string>, now: ReadonlySet<string>, onResumed: () => void): void {
  const [began, ended] = [[...now].filter((id) => !before.has(id)), [...before].filter((id) => !now.has(id))];
  if (began.length > 0)
    log.info({ organizationIds: began }, 'organizations are suspended: their deliveries are waiting');
  if (ended.length === 0) return;
  log.info({ organizationIds: ended }, 'organizations are no longer suspended: their deliveries continue');
  onResumed();
}

function openOutbound(
  { settings, temporal, log, temporalMetrics }: WorkerContext,
  pool: Pool,
  severalOrganizations: () => boolean,
) {
  const own = createOwnServices(ownServices(settings, temporal.connectionOptions.address), systemResolve);
  own.add(onThisMachine(temporalMetrics?.port ?? 0));
  const lookUp = createLookUps({ resolve: systemResolve });
  const reach = { allow: settings.HOOKYARD_DELIVERY_ALLOW, own, lookUp, severalOrganizations };
  const sender = createSender({ ...reach, publicUrl: () => publicUrl(settings) });
  const budgetOf = transformBudgets(createStandings(pool));
  const threads = createThreads({ threads: settings.HOOKYARD_THREADS, budgetOf, log });
  return { reach, sender, threads };
}

const STATEMENT_TIMEOUT_MS = 10_000;
// Results of several organizations are recorded together: one that keeps a row locked must not hold up the others for
// long.
const HOT_LOCK_TIMEOUT_MS = 1000;

// Commands (cancel, replay, housekeeping) are rare and their query plans depend on their filters; they must not queue
// behind the hot path. Polls for warehouses read much; their pool is opened when there is something to write.
function openPools(settings: Settings, { url, transactionPooler }: Database, log: Log) {
  const { hot, commands, warehouses } = workerConnections(settings);
  const common = {
    name: 'hookyard-worker',
    transactionPooler,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onError: (error: Error) => throttled(log).warn({ cause: causeOf(error) }, 'an idle database connection failed'),
  };
  return {
    hotPool: createPool(url, { ...common, max: hot, lockTimeoutMs: HOT_LOCK_TIMEOUT_MS, hotPath: true }),
    pool: createPool(url, { ...common, max: commands }),
    warehousePool: createPool(url, { ...common, max: warehouses }),
  };
}

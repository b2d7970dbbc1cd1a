import type { Server } from 'node:http';
import { ConfigError, withSecretFiles } from '../../core/config/secret-files.ts';
import { describeSettings, publicUrl, readLogSettings, readSettings, type Settings } from '../../core/config/config.ts';
import type { Tuning } from '../../core/config/tuning.ts';
import { parseRange, apiService, ownServices } from '../../core/http/addresses.ts';
import { recipientRule } from '../../core/messages/route-mails.ts';
import { endWithParent, sayReady } from '../../core/process/end-request.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { createLog, exitWith, type Log, logForNode } from '../../core/process/log.ts';
import { eventLoopDelay } from '../../core/metrics/process.ts';
import { watchLoop } from '../../core/process/event-loop.ts';
import { workflowLinks } from '../../core/temporal/names.ts';
import { operatorAccess } from '../../core/warehouse/operator-access.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { loadEncryptionKeys } from '../../db/encryption/keys.ts';
import { SecretBox } from '../../db/encryption/secret-box.ts';
import { createStandings, transformBudgets } from '../../db/hot-path/routing.ts';
import { CountedIssues } from '../../db/issues/counted.ts';
import { createStopLink } from '../../db/messages/recipients.ts';
import { ensurePartitions } from '../../db/sql/partitions.ts';
import { currentAllowList } from '../../outbound/http/address-guard.ts';
import { createLookUps, systemResolve } from '../../outbound/http/guarded-connect.ts';
import { createOwnServices } from '../../outbound/http/protected-services.ts';
import { createSender } from '../../outbound/http/sender.ts';
import { smtpOf } from '../../outbound/mail.ts';
import { createAlertSender } from '../../outbound/messages.ts';
import { createProviderKeys } from '../../outbound/provider-keys.ts';
import { createThreads } from '../../outbound/threads/index.ts';
import { createWarehouses } from '../../outbound/warehouses/index.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { senderOf } from '../../providers/index.ts';
import { type Metrics, startMetrics } from '../../telemetry/index.ts';
import { startTracing } from '../../telemetry/tracing.ts';
import { lazyClient, temporalConnectionOptions } from '../../temporal-config/client.ts';
import { temporalDataConverter } from '../../temporal-config/payload-codec.ts';
import { OrganizationRequests } from '../auth/request-and-record-limits.ts';
import type { ProxyTrust } from '../http/client-addresses.ts';
import { connectionCounts, HTTP_LIMITS, OpenConnections } from '../http/connections.ts';
import { createHttpServer, refusedConnections } from '../http/http-server.ts';
import { RefusedRequests } from '../http/request-log.ts';
import { Backlog } from '../ingest/backlog.ts';
import { counted } from '../ingest/counted.ts';
import { acceptHandshakeSecret, Handshakes } from '../ingest/handshakes.ts';
import { IngestIssues, Refusals } from '../ingest/refusals.ts';
import { IngestLimits } from '../ingest/ingest-limits.ts';
import { createIngest } from '../ingest/ingest.ts';
import { createRouteMatcher } from '../ingest/route-matching.ts';
import {
  lookAtDatabase,
  lookAtLanes,
  lookAtSearchAttributes,
  lookAtTemporal,
} from '../resources/organization/status.ts';
import { type AppDeps, createApp } from './app.ts';
import { endOnRequest } from './ending.ts';
import { openDatabase, requireDatabaseUrl } from './service-database.ts';
import { createSignals } from './signals.ts';

const PARTITIONS_EVERY_MS = 3_600_000;
const { version } = packageJson;

interface Start {
  settings: Settings;
  tuning: Tuning;
  /** For the settings of Temporal, with the secrets that are in files. */
  env: Record<string, string | undefined>;
  log: Log;
}

/**
 * Runs the API until it is asked to stop (SIGTERM, SIGINT, or its parent's IPC channel closes).
 * @throws ConfigError for a setting that cannot be used; an Error when PostgreSQL stays unreachable
 */
async function startService(start: Start): Promise<void> {
  const { settings, tuning, log } = start;
  let baseUrl = publicUrl(settings);
  const connections = new OpenConnections();
  const proxies = proxyTrust(settings);
  const refused = new RefusedRequests(log);
  const isEnding = () => connections.draining;
  const service = await openService(start, { baseUrl: () => baseUrl, isEnding, proxies, refused });
  process.prependOnceListener('exit', () => refused.flush());
  const handle = service.app.callback();
  const server = createHttpServer(
    (request, response) => void handle(request, response),
    { ...HTTP_LIMITS, ...connectionCounts(tuning.maxConnections, settings) },
    refusedConnections(log),
    connections,
    proxies,
  );
  const port = await listen(server, settings);
  service.own.add(apiService(settings, port));
  baseUrl = publicUrl(settings, port);
  const partitions = keepPartitions(service.slowPool, log);
  // Not before: loading modules takes longer.
  const stopWatching = watchLoop(log, eventLoopDelay);
  const metrics = await service.startMetrics();
  const release = async () => {
    clearInterval(partitions);
    stopWatching();
    await service.close(metrics);
  };
  endOnRequest({ server, connections, settings, release, log });
  const address = `http://${settings.HOOKYARD_HOST.includes(':') ? `[${settings.HOOKYARD_HOST}]` : settings.HOOKYARD_HOST}:${port}`;
  log.info({ url: address }, `API listening on ${address}`);
  sayReady(address);
}

type Door = Pick<AppDeps, 'baseUrl' | 'isEnding' | 'proxies' | 'refused'>;

/** Opens everything that requests need, each part with those before it. */
async function openService({ settings, tuning, env, log }: Start, door: Door) {
  const givenUrl = requireDatabaseUrl(settings);
  const keys = loadEncryptionKeys(settings);
  const secretBox = new SecretBox(keys);
  const { baseUrl, isEnding } = door;
  const database = await openDatabase(settings, givenUrl, log);
  const { ingestPool, servicePool, slowPool, pool, orm, organizations } = database;
  const { areSeveral } = organizations;

  const temporal = temporalConnectionOptions(env);
  const dataConverter = temporalDataConverter(settings.HOOKYARD_TEMPORAL_CODEC, keys);
  const client = lazyClient(temporal, { dataConverter, prefix: settings.HOOKYARD_TEMPORAL_PREFIX });
  const signals = createSignals(client, pool, log);

  const own = createOwnServices(ownServices(settings, temporal.connectionOptions.address), systemResolve);
  const lookUp = createLookUps({ resolve: systemResolve });
  const reach = { allow: settings.HOOKYARD_DELIVERY_ALLOW, own, lookUp, severalOrganizations: areSeveral };
  const access = operatorAccess(settings, env);
  const sender = createSender({ ...reach, publicUrl: baseUrl });
  const warehouses = createWarehouses({ ...reach, access });
  const smtp = smtpOf(settings);
  const budgetOf = transformBudgets(createStandings(servicePool));
  const threads = createThreads({ threads: settings.HOOKYARD_THREADS, budgetOf, log });
  const rule = () => recipientRule(settings.HOOKYARD_NOTIFY_RECIPIENTS, areSeveral());
  const stopLink = createStopLink({ secretBox, recipientRule: rule }, baseUrl);

  const backlog = new Backlog({ pool: slowPool, settings, log });
  await backlog.watch();
  const ingestLimits = new IngestLimits({ pool: ingestPool, settings, log });
  const issueCounts = new CountedIssues({ pool: servicePool, log });
  const issues = new IngestIssues(issueCounts);
  const refusals = new Refusals({ pool: servicePool, issues, log });
  const traces = await startTracing({ role: 'api', version, env, log });
  const handshakes = new Handshakes({ pool: servicePool, secretBox, log });
  const ingest = createIngest({
    ...{
      pool: ingestPool,
      settings,
      secretBox,
      backlog,
      ingestLimits,
      refusals,
      handshakes,
      issues,
      senderOf,
      baseUrl,
    },
    tracing: traces.tracing,
    routeMatcher: createRouteMatcher(threads),
    acceptSecret: acceptHandshakeSecret,
    providerKeys: createProviderKeys({ sender, log, mirror: settings.HOOKYARD_PROVIDER_KEYS_URL }),
  });

  const app = createApp({
    ...{ ...door, settings, tuning, orm, pool, servicePool, slowPool, secretBox, log },
    ...{ signals, sender, warehouses, threads, backlog },
    sendAlert: createAlertSender({ sender, smtp, stopLink, settings, publicUrl: baseUrl, version }),
    operatorAccess: access,
    allowList: currentAllowList(settings.HOOKYARD_DELIVERY_ALLOW, areSeveral),
    recipientRule: rule,
    workflowLink: workflowLinks(settings, temporal),
    requests: new OrganizationRequests(),
    ingest: counted(ingest.middleware),
    health: {
      ending: isEnding,
      ingestState: () => backlog.state(),
      database: lookAtDatabase(ingestPool),
      temporal: lookAtTemporal(client),
      searchAttributes: lookAtSearchAttributes(client),
      lanes: lookAtLanes(ingestPool),
    },
  });

  const pools = { ingest: ingestPool, service: servicePool, management: pool };
  return {
    ...{ app, own, slowPool },
    startMetrics: () => startMetrics({ role: 'api', version, settings, env, pools, pool: slowPool, log }),
    async close(metrics: Metrics) {
      // It may wait for a receiver of metrics, for which nothing else has to.
      const metricsEnd = metrics.stop();
      await ingest.close();
      const tracesEnd = traces.stop();
      await ingestLimits.close();
      await organizations.stop();
      const parts = [backlog, refusals, handshakes, signals, sender, warehouses, threads];
      await Promise.all(parts.map((part) => part.close()));
      await issueCounts.close();
      smtp?.mailer.close();
      await Promise.all([metricsEnd, tracesEnd]);
      await Promise.all([ingestPool.end(), pool.end(), servicePool.end(), orm.close(), client.connection.close()]);
    },
  };
}

function proxyTrust(settings: Settings): ProxyTrust {
  const ranges = (settings.HOOKYARD_TRUSTED_PROXIES ?? []).map(parseRange);
  return { proxies: ranges.filter((range) => range !== null) };
}

function listen(server: Server, settings: Settings): Promise<number> {
  const { HOOKYARD_PORT: port, HOOKYARD_HOST: host } = settings;
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reasons: Record<string, string> = {
        EADDRINUSE: `Port ${port} on ${host} is in use by another program; stop it, or set HOOKYARD_PORT to another port (0 picks a free port)`,
        EACCES: `This user cannot open port ${port}; set HOOKYARD_PORT to a port above 1023`,
        EADDRNOTAVAIL: `${host} is not an address of this machine; change HOOKYARD_HOST`,
        ENOTFOUND: `${host} is not an address of this machine; change HOOKYARD_HOST`,
      };
      reject(
        new ConfigError([reasons[error.code ?? ''] ?? `Cannot listen on HOOKYARD_PORT ${port}: ${error.message}`]),
      );
    });
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });
}

function keepPartitions(pool: Pool, log: Log): NodeJS.Timeout {
  return setInterval(() => {
    ensurePartitions(pool).catch((error: unknown) =>
      log.error({ cause: causeOf(error) }, 'failed to create partitions; trying again in an hour'),
    );
  }, PARTITIONS_EVERY_MS).unref();
}

export async function runApiProcess(tuning: Tuning): Promise<void> {
  const canEndInOrder = endWithParent();
  const log = createLog(readLogSettings(process.env), 'api');
  logForNode(log);
  try {
    const env = withSecretFiles(process.env);
    const settings = readSettings(env);
    // npm start, which names the data folder, has printed them already.
    if (!process.argv.some((arg) => arg.startsWith('--data-dir=')))
      log.info({ settings: describeSettings(settings) }, 'API starting');
    await startService({ settings, tuning, env, log });
    canEndInOrder();
  } catch (error) {
    exitWith(log, error);
  }
}

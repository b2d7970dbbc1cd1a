import type { Server } from 'node:http';
import { ConfigError, withSecretFiles } from '../../core/config/secret-files.ts';
import { describeSettings, publicUrl, readLogSettings, readSettings, type Settings } from '../../core/config/config.ts';
import type { Tuning } from '../../core/config/tuning.ts';
import { parseRange } from '../../core/http/address-ranges.ts';
import { apiService } from '../../core/http/service-addresses.ts';
import { recipientRule } from '../../core/messages/recipients.ts';
import { endWithParent, sayReady } from '../../core/process/end-request.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { createLog, exitWith, type Log, logForNode } from '../../core/process/log.ts';
import { eventLoopDelay } from '../../core/metrics/process.ts';
import { watchLoop } from '../../core/process/event-loop.ts';
import { workflowLinks } from '../../core/temporal/temporal-link.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { loadEncryptionKeys } from '../../db/encryption/keys.ts';
import { SecretBox } from '../../db/encryption/secret-box.ts';
import { createStopLink } from '../../db/messages/recipients.ts';
import { ensurePartitions } from '../../db/sql/partitions.ts';
import { createAlertSender } from '../../outbound/messages.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { type Metrics, startMetrics } from '../../telemetry/index.ts';
import { OrganizationRequests } from '../auth/organization-requests.ts';
import type { ProxyTrust } from '../http/client-addresses.ts';
import { connectionCounts, HTTP_LIMITS, OpenConnections } from '../http/connections.ts';
import { createHttpServer, refusedConnections } from '../http/http-server.ts';
import { RefusedRequests } from '../http/request-log.ts';
import { counted } from '../ingest/counted.ts';
import {
  lookAtDatabase,
  lookAtLanes,
  lookAtSearchAttributes,
  lookAtTemporal,
} from '../resources/organization/status.ts';
import { createApp } from './app.ts';
import { endOnRequest } from './ending.ts';
import { openDatabase, requireDatabaseUrl, type ServiceDatabase } from './service-database.ts';
import {
  openOutbound,
  openReceiving,
  openTemporal,
  type Outbound,
  type Receiving,
  type ServiceContext,
  type Temporal,
} from './service-parts.ts';

const PARTITIONS_EVERY_MS = 3_600_000;
const { version } = packageJson;

interface Service {
  context: ServiceContext;
  database: ServiceDatabase;
  temporal: Temporal;
  outbound: Outbound;
  receiving: Receiving;
}

/**
 * Runs the API until it is asked to stop (SIGTERM, SIGINT, or its parent's IPC channel closes).
 * @param env of the process, for the settings of Temporal, with the secrets that are in files
 * @throws ConfigError for a setting that cannot be used; an Error when PostgreSQL stays unreachable
 */
async function startService(
  settings: Settings,
  tuning: Tuning,
  env: Record<string, string | undefined>,
  log: Log,
): Promise<void> {
  let baseUrl = publicUrl(settings);
  const service = await openService(settings, tuning, env, () => baseUrl, log);
  const { database, outbound } = service;
  const connections = new OpenConnections();
  const proxies = proxyTrust(settings);
  const refused = new RefusedRequests(log);
  process.prependOnceListener('exit', () => refused.flush());
  const handle = createServiceApp(service, connections, proxies, refused).callback();
  const server = createHttpServer(
    (request, response) => void handle(request, response),
    { ...HTTP_LIMITS, ...connectionCounts(tuning.maxConnections, settings) },
    refusedConnections(log),
    connections,
    proxies,
  );
  const port = await listen(server, settings);
  outbound.own.add(apiService(settings, port));
  baseUrl = publicUrl(settings, port);
  const partitions = keepPartitions(database.slowPool, log);
  // Not before: loading modules takes longer.
  const stopWatching = watchLoop(log, eventLoopDelay);
  const metrics = await startOwnMetrics(service);
  const release = async () => {
    clearInterval(partitions);
    stopWatching();
    await closeService(service, metrics);
  };
  endOnRequest({ server, connections, settings, release, log });
  const address = `http://${settings.HOOKYARD_HOST.includes(':') ? `[${settings.HOOKYARD_HOST}]` : settings.HOOKYARD_HOST}:${port}`;
  log.info({ url: address }, `API listening on ${address}`);
  sayReady(address);
}

async function openService(
  settings: Settings,
  tuning: Tuning,
  env: Record<string, string | undefined>,
  baseUrl: () => string,
  log: Log,
): Promise<Service> {
  const givenUrl = requireDatabaseUrl(settings);
  const keys = loadEncryptionKeys(settings);
  const context = { settings, tuning, env, keys, secretBox: new SecretBox(keys), baseUrl, log };
  const database = await openDatabase(settings, givenUrl, log);
  const temporal = openTemporal(context, database);
  const outbound = openOutbound(context, database, temporal);
  const receiving = await openReceiving(context, database, outbound);
  return { context, database, temporal, outbound, receiving };
}

function createServiceApp(
  { context, database, temporal, outbound, receiving }: Service,
  connections: OpenConnections,
  proxies: ProxyTrust,
  refused: RefusedRequests,
) {
  const { settings, tuning, secretBox, baseUrl, log } = context;
  const { ingestPool, servicePool, slowPool, pool, orm, organizations } = database;
  const { sender, warehouses, threads, access, smtp, allowList } = outbound;
  const { backlog, ingest } = receiving;
  const rule = () => recipientRule(settings.HOOKYARD_NOTIFY_RECIPIENTS, organizations.areSeveral());
  const stopLink = createStopLink({ secretBox, recipientRule: rule }, baseUrl);
  return createApp({
    settings,
    tuning,
    baseUrl,
    orm,
    pool,
    servicePool,
    slowPool,
    secretBox,
    signals: temporal.signals,
    sender,
    warehouses,
    sendAlert: createAlertSender({ sender, smtp, stopLink, settings, publicUrl: baseUrl, version }),
    operatorAccess: access,
    allowList,
    recipientRule: rule,
    threads,
    workflowLink: workflowLinks(settings, temporal.options),
    requests: new OrganizationRequests(),
    backlog,
    isEnding: () => connections.draining,
    log,
    ingest: counted(ingest.middleware),
    proxies,
    refused,
    health: {
      ending: () => connections.draining,
      ingestState: () => backlog.state(),
      database: lookAtDatabase(ingestPool),
      temporal: lookAtTemporal(temporal.client),
      searchAttributes: lookAtSearchAttributes(temporal.client),
      lanes: lookAtLanes(ingestPool),
    },
  });
}

function startOwnMetrics({ context: { settings, env, log }, database }: Service): Promise<Metrics> {
  const { ingestPool, servicePool, slowPool, pool } = database;
  return startMetrics({
    role: 'api',
    version,
    settings,
    env,
    pools: { ingest: ingestPool, service: servicePool, management: pool },
    pool: slowPool,
    log,
  });
}

async function closeService({ database, temporal, outbound, receiving }: Service, metrics: Metrics): Promise<void> {
  const { ingestPool, servicePool, pool, orm, organizations } = database;
  const { backlog, ingestLimits, issueCounts, refusals, traces, handshakes, ingest } = receiving;
  const { sender, warehouses, threads, smtp } = outbound;
  // It may wait for a receiver of metrics, for which nothing else has to.
  const metricsEnd = metrics.stop();
  await ingest.close();
  const tracesEnd = traces.stop();
  await ingestLimits.close();
  await organizations.stop();
  const parts = [backlog, refusals, handshakes, temporal.signals, sender, warehouses, threads];
  await Promise.all(parts.map((part) => part.close()));
  await issueCounts.close();
  smtp?.mailer.close();
  await Promise.all([metricsEnd, tracesEnd]);
  await Promise.all([ingestPool.end(), pool.end(), servicePool.end(), orm.close(), temporal.client.connection.close()]);
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
        EADDRINUSE: `Port ${port} on ${host} is in use by another program; stop it, or set HOOKYARD_PORT to another port (0 chooses a free one)`,
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
    await startService(settings, tuning, env, log);
    canEndInOrder();
  } catch (error) {
    exitWith(log, error);
  }
}

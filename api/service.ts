// Starts and stops the API process: PostgreSQL and Temporal connections, the HTTP server, signals.

import type { Server } from 'node:http';
import { watchLoop } from '../core/loop-delay.ts';
import { createCompute } from '../outbound/compute/index.ts';
import { parseRange } from '../core/address-ranges.ts';
import { systemResolve } from '../outbound/http/guarded-connect.ts';
import { createOwnServices } from '../outbound/http/own-services.ts';
import { createSender } from '../outbound/http/sender.ts';
import { createAlertSender } from '../outbound/alerts.ts';
import { smtpOf } from '../outbound/mail.ts';
import { createProviderKeys } from '../outbound/provider-keys/index.ts';
import { createTransforms } from '../outbound/transforms/index.ts';
import { createWarehouses } from '../outbound/warehouses/index.ts';
import { ConfigError, publicUrl, type Settings } from '../core/config.ts';
import { apiConnections } from '../core/database-connections.ts';
import type { Log } from '../core/log.ts';
import { causeOf } from '../core/log-cause.ts';
import { recipientRule } from '../core/notify-recipients.ts';
import { apiService, ownServices } from '../core/own-services.ts';
import { workflowLinks } from '../core/temporal-link.ts';
import { throttled } from '../core/throttled-log.ts';
import { operatorAccess } from '../core/warehouse/operator-access.ts';
import { SecretBox } from '../db/encryption/secret-box.ts';
import { loadEncryptionKeys } from '../db/encryption/keys.ts';
import { CountedIssues } from '../db/issues/counted.ts';
import { watchOrganizations } from '../db/organizations/several.ts';
import { createOrm } from '../db/orm.ts';
import { ensurePartitions } from '../db/retention/partitions.ts';
import { databaseUrl } from '../db/connections/client.ts';
import { createStandings, transformBudgets } from '../db/organizations/standing.ts';
import { createPool, type Pool } from '../db/connections/pool.ts';
import { shareConnections, slowSide } from '../db/connections/pool-turns.ts';
import { mayMigrate } from '../db/schema/rights.ts';
import { findTenantRole } from '../db/tenants/rights.ts';
import packageJson from '../package.json' with { type: 'json' };
import { startMetrics } from '../telemetry/index.ts';
import { startTracing } from '../telemetry/tracing.ts';
import { lazyClient } from '../temporal-config/client.ts';
import { temporalConnectionOptions } from '../temporal-config/connection.ts';
import { temporalDataConverter } from '../temporal-config/payload-codec.ts';
import { createApp } from './app.ts';
import type { ProxyTrust } from './clients/client-addresses.ts';
import { endOnRequest } from './ending.ts';
import { connectionCounts, HTTP_LIMITS } from './http-limits.ts';
import { createHttpServer } from './http-server.ts';
import { watchBacklog } from './ingest/backlog.ts';
import { counted } from './ingest/count.ts';
import { Handshakes } from './ingest/handshakes.ts';
import { createIngest } from './ingest/ingest.ts';
import { IngestIssues } from './ingest/issues.ts';
import { watchQuotas } from './ingest/quotas.ts';
import { Refusals } from './ingest/refusals.ts';
import { OpenConnections } from './open-connections.ts';
import { OrganizationRequests } from './organization-requests.ts';
import { prepareWhenReachable } from './prepare-database.ts';
import { refusedConnections } from './refused-connections.ts';
import { RefusedRequests } from './refused-requests.ts';
import { lookAtDatabase, lookAtLanes, lookAtSearchAttributes, lookAtTemporal } from './resources/health.ts';
import { createSignals } from './signals.ts';
import { createAlertTester } from './test-alert.ts';
import { createTestSender } from './test-send.ts';
import { createTestUploader } from './test-upload.ts';

const PARTITIONS_EVERY_MS = 3_600_000;
const STATEMENT_TIMEOUT_MS = 10_000;

/**
 * Runs the API until it is asked to stop (SIGTERM, SIGINT, or its parent's IPC channel closes).
 * @param env of the process, for the settings of Temporal, with the secrets that are in files
 * @throws ConfigError for a setting that cannot be used; an Error when PostgreSQL stays unreachable
 */
export async function startService(
  settings: Settings,
  env: Record<string, string | undefined>,
  log: Log,
): Promise<void> {
  const givenUrl = databaseUrl(settings, 'DATABASE_URL');
  if (givenUrl === undefined)
    throw new ConfigError(['DATABASE_URL must be set to start the API by itself; npm start brings its own PostgreSQL']);
  const keys = loadEncryptionKeys(settings);
  const secretBox = new SecretBox(keys);
  const { url, pooling } = await prepareWhenReachable(settings, givenUrl, log);

  const onError = (error: Error) => throttled(log).warn({ cause: causeOf(error) }, 'an idle database connection broke');
  // Reads of lists and histories may be slow; they have their own connections, so that ingest never waits for them.
  const connectionsFor = apiConnections(settings);
  const common = { name: 'hookyard-api', statementTimeoutMs: STATEMENT_TIMEOUT_MS, onError, pooling };
  const ingestPool = createPool(url, { ...common, max: connectionsFor.ingest, hotPath: true });
  const servicePool = createPool(url, { ...common, max: connectionsFor.service });
  // Every request looks a key up on that pool: what counts all that waits, or needs locks, must not hold all of it.
  const slowPool = slowSide(servicePool, connectionsFor.service);
  const organizations = await watchOrganizations(servicePool, settings, log);
  const alone = () => !organizations.areSeveral();
  const tenantRole = await tenantRoleOf(servicePool, log);
  const pool = createPool(url, { ...common, max: connectionsFor.management, tenantRole });
  shareConnections(pool, { max: connectionsFor.management, reserved: 0, alone });
  const orm = createOrm(url, connectionsFor.records, { alone, tenantRole, pooling });
  const temporalSettings = temporalConnectionOptions(env);
  const dataConverter = temporalDataConverter(settings.HOOKYARD_TEMPORAL_CODEC, keys);
  const temporal = lazyClient(temporalSettings, { dataConverter, prefix: settings.HOOKYARD_TEMPORAL_PREFIX });
  const signals = createSignals(temporal, pool, log);
  const own = createOwnServices(ownServices(settings, temporalSettings.connectionOptions.address), systemResolve);
  const reach = { allow: settings.HOOKYARD_DELIVERY_ALLOW, own, severalOrganizations: organizations.areSeveral };
  let baseUrl = publicUrl(settings);
  const access = operatorAccess(settings, env);
  const sender = createSender({ ...reach, publicUrl: () => baseUrl });
  const warehouses = createWarehouses({ ...reach, access });
  const smtp = smtpOf(settings);
  const transforms = createTransforms(
    settings.HOOKYARD_TRANSFORM_THREADS,
    transformBudgets(createStandings(servicePool)),
  );
  const compute = createCompute({ threads: settings.HOOKYARD_COMPUTE_THREADS, log });
  const backlog = await watchBacklog({ pool: slowPool, settings, log });
  const quotas = await watchQuotas({ pool: ingestPool, settings, log });
  const recoverySeconds = settings.HOOKYARD_ISSUE_RECOVERY_SECONDS;
  const issueCounts = new CountedIssues({ pool: servicePool, recoverySeconds, log });
  const issues = new IngestIssues(issueCounts);
  const refusals = new Refusals({ pool: servicePool, issues, log });
  const traces = await startTracing({ role: 'api', version: packageJson.version, env, log });
  const { tracing } = traces;
  const handshakes = new Handshakes({ pool: servicePool, secretBox, log });
  const providerKeys = createProviderKeys({ sender, log, mirror: settings.HOOKYARD_PROVIDER_KEYS_URL });
  const ingest = createIngest({
    ...{ pool: ingestPool, settings, secretBox, backlog, quotas, compute, refusals, handshakes, issues, tracing },
    ...{ providerKeys, baseUrl: () => baseUrl },
  });
  const connections = new OpenConnections();
  const proxies = proxyTrust(settings);
  const refused = new RefusedRequests(log);
  process.prependOnceListener('exit', () => refused.flush());

  const app = createApp({
    settings,
    baseUrl: () => baseUrl,
    orm,
    pool,
    servicePool,
    slowPool,
    secretBox,
    signals,
    testSender: createTestSender(sender, {
      headerPrefix: settings.HOOKYARD_HEADER_PREFIX,
      version: packageJson.version,
    }),
    testAlert: createAlertTester(
      createAlertSender({ sender, smtp, settings, publicUrl: () => baseUrl, version: packageJson.version }),
    ),
    testUploader: createTestUploader(warehouses, compute),
    operatorAccess: access,
    recipientRule: () => recipientRule(settings.HOOKYARD_NOTIFY_RECIPIENTS, organizations.areSeveral()),
    transforms,
    compute,
    workflowLink: workflowLinks(settings, temporalSettings),
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
      temporal: lookAtTemporal(temporal),
      searchAttributes: lookAtSearchAttributes(temporal),
      lanes: lookAtLanes(ingestPool),
    },
  });
  const handle = app.callback();
  const server = createHttpServer(
    (request, response) => void handle(request, response),
    { ...HTTP_LIMITS, ...connectionCounts(settings) },
    refusedConnections(log),
    connections,
    proxies,
  );
  const port = await listen(server, settings);
  own.add(apiService(settings, port));
  baseUrl = publicUrl(settings, port);
  const partitions = keepPartitions(slowPool, log);

  // Not before: loading modules takes longer.
  const stopWatching = watchLoop(log);
  const metrics = await startMetrics({
    role: 'api',
    version: packageJson.version,
    settings,
    env,
    pools: { ingest: ingestPool, service: servicePool, management: pool },
    pool: slowPool,
    log,
  });
  const release = async () => {
    clearInterval(partitions);
    stopWatching();
    // It may wait for a receiver of metrics, for which nothing else has to.
    const metricsEnd = metrics.stop();
    await ingest.close();
    const tracesEnd = traces.stop();
    await quotas.close();
    await organizations.stop();
    const parts = [backlog, refusals, handshakes, signals, sender, warehouses, transforms, compute];
    await Promise.all(parts.map((part) => part.close()));
    await issueCounts.close();
    smtp?.mailer.close();
    await Promise.all([metricsEnd, tracesEnd]);
    await Promise.all([ingestPool.end(), pool.end(), servicePool.end(), orm.close(), temporal.connection.close()]);
  };
  endOnRequest({ server, connections, settings, release, log });
  const address = `http://${settings.HOOKYARD_HOST.includes(':') ? `[${settings.HOOKYARD_HOST}]` : settings.HOOKYARD_HOST}:${port}`;
  log.info({ url: address }, `the API listens on ${address}`);
  process.send?.({ type: 'ready', url: address });
}

/**
 * Failure policy: without a role of tenants the API starts all the same, and only its statements separate organizations. Where the
 * operator has separated the other roles, that is likely an omission, and a warning.
 */
async function tenantRoleOf(pool: Pool, log: Log): Promise<string | null> {
  const role = await findTenantRole(pool);
  if (role === null && (await mayMigrate(pool)))
    log.info('PostgreSQL does not separate organizations by itself, the statements do (docs/database-roles.md)');
  else if (role === null)
    log.warn(
      'PostgreSQL does not separate organizations by itself, the statements do: run hookyard migrate --tenant-role as the owner of the tables, grant that role to the role of DATABASE_URL as docs/database-roles.md says, and restart',
    );
  else
    log.info(
      { databaseRole: role },
      'the management API sees the rows of one organization at a time (row-level security)',
    );
  return role;
}

function proxyTrust(settings: Settings): ProxyTrust {
  const ranges = (settings.HOOKYARD_TRUSTED_PROXIES ?? []).map(parseRange);
  return { proxies: ranges.filter((range) => range !== null), proxyProtocol: settings.HOOKYARD_PROXY_PROTOCOL };
}

function listen(server: Server, settings: Settings): Promise<number> {
  const { HOOKYARD_PORT: port, HOOKYARD_HOST: host } = settings;
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reasons: Record<string, string> = {
        EADDRINUSE: `Port ${port} on ${host} is taken by another program; stop it, or set HOOKYARD_PORT to another port (0 chooses a free one)`,
        EACCES: `Port ${port} may not be opened by this user; set HOOKYARD_PORT to a port above 1023`,
        EADDRNOTAVAIL: `${host} is no address of this machine; set HOOKYARD_HOST`,
        ENOTFOUND: `${host} is no address of this machine; set HOOKYARD_HOST`,
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
      log.error({ err: error }, 'partitions could not be made; trying again in an hour'),
    );
  }, PARTITIONS_EVERY_MS).unref();
}

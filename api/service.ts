// Starts and stops the API process: PostgreSQL and Temporal connections, the HTTP server, signals.

import type { Server } from 'node:http';
import { Client, Connection, type DataConverter } from '@temporalio/client';
import { watchLoop } from '../core/loop-delay.ts';
import { createCompute } from '../outbound/compute/index.ts';
import { parseRange } from '../core/address-ranges.ts';
import { systemResolve } from '../outbound/http/guarded-connect.ts';
import { createOwnServices } from '../outbound/http/own-services.ts';
import { createSender } from '../outbound/http/sender.ts';
import { createTransforms } from '../outbound/transforms/index.ts';
import { createWarehouses } from '../outbound/warehouses/index.ts';
import { ConfigError, publicUrl, type Settings } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import { recipientRule } from '../core/notify-recipients.ts';
import { apiService, ownServices } from '../core/own-services.ts';
import { workflowLinks } from '../core/temporal-link.ts';
import { operatorR2 } from '../core/warehouse/r2-operator.ts';
import { SecretBox } from '../db/encryption/secret-box.ts';
import { loadEncryptionKeys } from '../db/encryption/keys.ts';
import { watchOrganizations } from '../db/organizations/several.ts';
import { createOrm } from '../db/orm.ts';
import { ensurePartitions } from '../db/retention/partitions.ts';
import { isTransientDatabaseError } from '../db/database-errors.ts';
import { createStandings, transformBudgets } from '../db/organizations/standing.ts';
import { createPool, type Pool } from '../db/pool.ts';
import { shareConnections } from '../db/pool-turns.ts';
import { prepareDatabase } from '../db/prepare.ts';
import packageJson from '../package.json' with { type: 'json' };
import { type TemporalConnection, temporalConnectionOptions, WITHOUT_PROXY } from '../temporal-config/connection.ts';
import { temporalDataConverter } from '../temporal-config/payload-codec.ts';
import { createApp } from './app.ts';
import type { ProxyTrust } from './clients/client-addresses.ts';
import { endOnRequest } from './ending.ts';
import { connectionCounts, HTTP_LIMITS } from './http-limits.ts';
import { createHttpServer } from './http-server.ts';
import { watchBacklog } from './ingest/backlog.ts';
import { createIngest } from './ingest/ingest.ts';
import { watchQuotas } from './ingest/quotas.ts';
import { OpenConnections } from './open-connections.ts';
import { OrganizationRequests } from './organization-requests.ts';
import { refusedConnections } from './refused-connections.ts';
import { lookAtDatabase, lookAtTemporal } from './resources/health.ts';
import { createSignals } from './signals.ts';
import { createTestSender } from './test-send.ts';
import { createTestUploader } from './test-upload.ts';

const DATABASE_DEADLINE_MS = 120_000;
const DATABASE_RETRY_MS = 2000;
const PARTITIONS_EVERY_MS = 3_600_000;
// Reads of lists and histories may be slow; they have their own connections, so that ingest never waits for them.
const MANAGEMENT_CONNECTIONS = 8;
const RECORD_CONNECTIONS = 8;
const STATEMENT_TIMEOUT_MS = 10_000;

/**
 * Runs the API until it is asked to stop (SIGTERM, SIGINT, or its parent's IPC channel closes).
 * @param env of the process, for the settings of Temporal
 * @throws ConfigError for a setting that cannot be used; an Error when PostgreSQL stays unreachable
 */
export async function startService(settings: Settings, env: NodeJS.ProcessEnv, log: Log): Promise<void> {
  const databaseUrl = settings.DATABASE_URL;
  if (!databaseUrl)
    throw new ConfigError(['DATABASE_URL must be set to start the API by itself; npm start brings its own PostgreSQL']);
  const keys = loadEncryptionKeys(settings);
  const secretBox = new SecretBox(keys);
  await prepareWhenReachable(settings, databaseUrl, log);

  const onError = (error: Error) => log.warn({ err: error }, 'a database connection broke');
  const ingestPool = createPool(databaseUrl, {
    max: settings.HOOKYARD_DATABASE_POOL,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onError,
    hotPath: true,
  });
  const pool = createPool(databaseUrl, {
    max: MANAGEMENT_CONNECTIONS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onError,
  });
  const organizations = await watchOrganizations(pool, settings, log);
  const alone = () => !organizations.areSeveral();
  shareConnections(pool, { max: MANAGEMENT_CONNECTIONS, alone });
  const orm = createOrm(databaseUrl, RECORD_CONNECTIONS, alone);
  const temporalSettings = temporalConnectionOptions(env);
  const temporal = lazyTemporalClient(temporalSettings, temporalDataConverter(settings.HOOKYARD_TEMPORAL_CODEC, keys));
  const signals = createSignals(temporal, pool, log);
  const own = createOwnServices(ownServices(settings, temporalSettings.connectionOptions.address), systemResolve);
  const reach = { allow: settings.HOOKYARD_DELIVERY_ALLOW, own, severalOrganizations: organizations.areSeveral };
  let baseUrl = publicUrl(settings);
  const r2 = operatorR2(settings, env);
  const sender = createSender({ ...reach, publicUrl: () => baseUrl });
  const warehouses = createWarehouses({ ...reach, r2 });
  const transforms = createTransforms(settings.HOOKYARD_TRANSFORM_THREADS, transformBudgets(createStandings(pool)));
  const compute = createCompute({ threads: settings.HOOKYARD_COMPUTE_THREADS, log });
  const backlog = await watchBacklog({ pool, settings, log });
  const quotas = await watchQuotas({ pool: ingestPool, settings, log });
  const ingest = createIngest({ pool: ingestPool, settings, secretBox, backlog, quotas, compute });
  const connections = new OpenConnections();
  const proxies = proxyTrust(settings);

  const app = createApp({
    settings,
    baseUrl: () => baseUrl,
    orm,
    pool,
    secretBox,
    signals,
    testSender: createTestSender(sender, {
      headerPrefix: settings.HOOKYARD_HEADER_PREFIX,
      version: packageJson.version,
    }),
    testUploader: createTestUploader(warehouses, compute),
    r2,
    recipientRule: () => recipientRule(settings.HOOKYARD_NOTIFY_RECIPIENTS, organizations.areSeveral()),
    transforms,
    compute,
    workflowLink: workflowLinks(settings, temporalSettings),
    requests: new OrganizationRequests(),
    log,
    ingest: ingest.middleware,
    proxies,
    health: {
      ending: () => connections.draining,
      ingestState: () => backlog.state(),
      database: lookAtDatabase(ingestPool),
      temporal: lookAtTemporal(temporal),
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
  const partitions = keepPartitions(pool, log);

  // Not before: loading modules takes longer.
  const stopWatching = watchLoop(log);
  const release = async () => {
    clearInterval(partitions);
    stopWatching();
    await ingest.close();
    await quotas.close();
    await organizations.stop();
    const parts = [backlog, signals, sender, warehouses, transforms, compute];
    await Promise.all(parts.map((part) => part.close()));
    await Promise.all([ingestPool.end(), pool.end(), orm.close(), temporal.connection.close()]);
  };
  endOnRequest({ server, connections, settings, release, log });
  const url = `http://${settings.HOOKYARD_HOST.includes(':') ? `[${settings.HOOKYARD_HOST}]` : settings.HOOKYARD_HOST}:${port}`;
  log.info({ url }, `the API listens on ${url}`);
  process.send?.({ type: 'ready', url });
}

function proxyTrust(settings: Settings): ProxyTrust {
  const ranges = (settings.HOOKYARD_TRUSTED_PROXIES ?? []).map(parseRange);
  return { proxies: ranges.filter((range) => range !== null), proxyProtocol: settings.HOOKYARD_PROXY_PROTOCOL };
}

/** Prepares the database, waiting until it is reachable. */
async function prepareWhenReachable(settings: Settings, databaseUrl: string, log: Log): Promise<void> {
  const giveUpAt = performance.now() + DATABASE_DEADLINE_MS;
  for (;;) {
    try {
      const { createdKey } = await prepareDatabase(settings, databaseUrl);
      if (createdKey?.file) log.info(`the first API key was made; it is kept in ${createdKey.file}`);
      return;
    } catch (error) {
      if (!isTransientDatabaseError(error)) throw error;
      const reason = error instanceof Error ? error.message || ('code' in error && String(error.code)) : '';
      const left = Math.round((giveUpAt - performance.now()) / 1000);
      if (left <= 0) throw new Error(`PostgreSQL could not be reached (${reason}); check DATABASE_URL`);
      log.warn(`waiting for PostgreSQL (${reason}); giving up in ${left} s`);
      await new Promise((resolve) => setTimeout(resolve, DATABASE_RETRY_MS));
    }
  }
}

// Connects at the first call, so that the API starts and ingest works while Temporal is down.
function lazyTemporalClient(
  { connectionOptions, namespace }: TemporalConnection,
  dataConverter: DataConverter,
): Client {
  const { grpcCompression: _forWorkers, ...others } = connectionOptions;
  const options = { ...others, channelArgs: WITHOUT_PROXY };
  return new Client({ connection: Connection.lazy(options), namespace, dataConverter });
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

// npm start, and hookyard-server of an installed package: the whole of Hookyard on one machine. Starts the servers that
// no variable points to, keeps them running, and stops them in order.
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, withSecretFiles } from '../core/config/secret-files.ts';
import { describeSettings, readSettings, type Settings } from '../core/config/config.ts';
import { dataFolder } from '../core/config/folders.ts';
import { LOOPBACK_FOR_ONE, LOOPBACK_HOSTS } from '../core/http/addresses.ts';
import { settleAll } from '../core/fairness/concurrency.ts';
import { metricsPorts, workersMetricsPort } from '../core/metrics/ports.ts';
import { onEndRequest } from '../core/process/end-request.ts';
import { createPool, type Pool } from '../db/connections/pool.ts';
import { databaseBytes } from '../db/organizations/backlog.ts';
import { makeConsoleCode } from '../db/organizations/keys.ts';
import { apiKeyFile, prepareDatabase, type PreparedDatabase } from '../db/schema/prepare.ts';
import { grantRuntime, grantTenant } from '../db/schema/roles.ts';
import { oneLine, phase, seconds, StartupError } from './errors.ts';
import { buildConsole, firstSteps } from './first-steps.ts';
import { forgetUrl, recordUrl } from './lock.ts';
import { claimPort, freePorts } from './ports.ts';
import { type DatabaseRole, TENANT_ROLE } from './postgres/roles.ts';
import { aborted, keepUp } from './process.ts';
import { type Role, startRole } from './role.ts';
import { type Stack, startStack } from './stack.ts';

// There is no load balancer in front of the only API.
const noDrain = '0';
// Beyond the time for running attempts: closing connections, writing results.
const endMarginMs = 5_000;
const STATEMENT_TIMEOUT_MS = 30_000;
// Of a server that ends, in a row; without it nothing works.
const MOST_STARTS = 3;
// Of what the database and the free space are together: with one start after the other it stays the same.
const MOST_OF_DISK = 0.9;

const log = (line: string) => console.log(`hookyard: ${line}`);
const began = performance.now();
const ending = new AbortController();
let stack: Stack | undefined;
let roles: { api?: Role; worker?: Role } = {};
/** Why everything has to stop without a request. */
let failure: StartupError | undefined;

onEndRequest((reason, count) => {
  if (count > 1) return forceEnd();
  log(`stopping (${reason}); a second signal stops immediately`);
  ending.abort();
});

try {
  const env = withSecretFiles(process.env);
  const settings = readSettings({
    HOOKYARD_DELIVERY_ALLOW: LOOPBACK_FOR_ONE,
    ...env,
    HOOKYARD_DATA_DIR: dataFolder(join(import.meta.dirname, '..'), env.HOOKYARD_DATA_DIR),
    HOOKYARD_DRAIN_SECONDS: env.HOOKYARD_DRAIN_SECONDS || noDrain,
  });
  await start(settings, env);
} catch (error) {
  const asked = ending.signal.aborted && error !== failure;
  for (const line of asked ? [] : problems(error)) console.error(`hookyard: ${line}`);
  process.exitCode = asked ? 0 : 1;
}
process.exit();

async function start(settings: Settings, env: NodeJS.ProcessEnv): Promise<void> {
  if (!settings.HOOKYARD_MIGRATE && !settings.DATABASE_URL)
    throw new ConfigError([
      'HOOKYARD_MIGRATE is off, but the embedded PostgreSQL can be migrated only at startup; remove the setting, or set DATABASE_URL to your own PostgreSQL',
    ]);
  printSettings(settings);
  let apiPort = 0;
  let prepared: PreparedDatabase | undefined;
  let maxDatabaseBytes = settings.HOOKYARD_MAX_DATABASE_BYTES;
  const built = settings.HOOKYARD_CONSOLE ? buildConsole(ending.signal, log) : undefined;
  stack = await startStack({
    dataDir: settings.HOOKYARD_DATA_DIR,
    postgresPort: settings.POSTGRES_PORT,
    temporalPort: settings.TEMPORAL_PORT,
    uiPort: settings.TEMPORAL_UI_PORT,
    databaseUrl: settings.DATABASE_URL,
    temporalEnv: env,
    downloadUrl: settings.HOOKYARD_TEMPORAL_DOWNLOAD_URL,
    signal: ending.signal,
    log,
    async onLocked() {
      forgetUrl(settings.HOOKYARD_DATA_DIR);
      apiPort = await claimPort(settings.HOOKYARD_PORT, 'HOOKYARD_PORT', 'the API', settings.HOOKYARD_HOST);
    },
    async onDatabase(ownerUrl) {
      const url = settings.DATABASE_DIRECT_URL ?? ownerUrl;
      prepared = await phase(log, 'the database is up to date', () => prepare(settings, url));
      if (settings.DATABASE_URL) return;
      await onDatabase(url, async (pool) => {
        await grantRuntime(pool, 'hookyard_runtime' satisfies DatabaseRole);
        await grantTenant(pool, TENANT_ROLE);
        maxDatabaseBytes ??= await databaseLimit(pool, settings.HOOKYARD_DATA_DIR);
      });
    },
  });
  try {
    await startRoles({ ...settings, HOOKYARD_MAX_DATABASE_BYTES: maxDatabaseBytes }, stack, apiPort);
    recordUrl(stack.dataDir, roles.api?.url ?? '');
    if (prepared) await printReady(settings, stack, prepared);
    failure = await untilEnd(stack);
    if (failure) throw failure;
  } finally {
    forgetUrl(stack.dataDir);
    built?.stop();
    await stopRoles(settings);
    await stack.stop();
    log('everything has stopped');
  }
}

async function prepare(settings: Settings, databaseUrl: string): Promise<PreparedDatabase> {
  try {
    return await prepareDatabase(settings, databaseUrl);
  } catch (error) {
    if (error instanceof ConfigError || !settings.DATABASE_URL) throw error;
    const name = settings.DATABASE_DIRECT_URL ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL';
    throw new StartupError(`The database in ${name} cannot be used: ${oneLine(error)}`);
  }
}

async function onDatabase<Result>(url: string, work: (pool: Pool) => Promise<Result>): Promise<Result> {
  const options = { name: 'hookyard-setup', max: 1, statementTimeoutMs: STATEMENT_TIMEOUT_MS, onError: () => {} };
  const pool = createPool(url, options);
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

/**
 * How large the database may get on the disk of this machine, where no setting says it: ingest then answers 503 while
 * the disk still has room for Temporal's databases, WAL and vacuum, and no organization fills it for the others.
 * @param dataDir the data folder of the embedded PostgreSQL
 * @returns bytes
 */
async function databaseLimit(db: Pool, dataDir: string): Promise<number> {
  const [size, { bavail, bsize }] = await Promise.all([databaseBytes(db), statfs(dataDir)]);
  return Math.floor((size + bavail * bsize) * MOST_OF_DISK);
}

async function startRoles(
  settings: Settings,
  { runtimeUrl, temporalAddress, namespace, temporalUiUrl, ports, dataDir }: Stack,
  port: number,
) {
  // The API has to know it too: a test send must not reach it.
  const [sdkPort = 0] = await freePorts(1);
  const env = {
    ...process.env,
    // Each role reads files of secrets for itself.
    ...(!settings.DATABASE_URL_FILE && { DATABASE_URL: runtimeUrl }),
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: namespace,
    TEMPORAL_UI_URL: process.env.TEMPORAL_UI_URL || (temporalUiUrl ?? ''),
    HOOKYARD_DATA_DIR: dataDir,
    HOOKYARD_PORT: String(port),
    // Some of them are in no other setting: the port for metrics of the other role, those of Temporal's services, and
    // of PostgreSQL when it only serves Temporal.
    HOOKYARD_DELIVERY_ALLOW: [
      ...settings.HOOKYARD_DELIVERY_ALLOW,
      ...[...ports(), ...metricsPorts(settings), sdkPort].map((own) => `!localhost:${own}`),
    ].join(','),
    HOOKYARD_DRAIN_SECONDS: String(settings.HOOKYARD_DRAIN_SECONDS),
    HOOKYARD_MAX_DATABASE_BYTES: String(settings.HOOKYARD_MAX_DATABASE_BYTES ?? ''),
  };
  const keep = async (name: 'api' | 'worker') => {
    // Both may not listen on the same port.
    const isWorker = name === 'worker';
    const metrics = isWorker ? { OTEL_EXPORTER_PROMETHEUS_PORT: String(workersMetricsPort(settings)) } : {};
    const args = isWorker ? [`--temporal-metrics-port=${sdkPort}`] : [];
    roles[name] = await startRole({ name, dataDir, env: { ...env, ...metrics }, args, log });
  };
  await settleAll([keep('worker'), keep('api')]);
  ending.signal.throwIfAborted();
}

async function untilEnd({ postgres, temporal, ui }: Stack): Promise<StartupError | undefined> {
  const services = { PostgreSQL: postgres, Temporal: temporal, 'Temporal UI': ui };
  const watched = Object.entries(services).flatMap(([name, service]) =>
    service ? [keepUp(name, service, ending.signal, log, MOST_STARTS)] : [],
  );
  const reason = await Promise.race([aborted(ending.signal), ...watched]);
  if (reason === undefined) return undefined;
  ending.abort(); // the other servers are ended on purpose from here on
  return new StartupError(reason);
}

/** The API first, so that nothing new is accepted while the worker finishes what is running. */
async function stopRoles(settings: Settings): Promise<void> {
  const graceMs = settings.HOOKYARD_SHUTDOWN_SECONDS * 1_000 + endMarginMs;
  const drainMs = settings.HOOKYARD_DRAIN_SECONDS * 1_000;
  const { api, worker } = roles;
  roles = {};
  if (api && (await api.stop(drainMs + graceMs))) log('the API has stopped');
  if (worker && (await worker.stop(graceMs))) log('the worker has stopped');
}

function forceEnd(): void {
  log('stopping immediately');
  for (const role of [roles.api, roles.worker]) if (role) process.kill(role.pid, 'SIGKILL');
  const killed = stack?.kill() ?? Promise.resolve();
  killed.finally(() => process.exit(130)).catch(() => {});
}

function printSettings(settings: Settings): void {
  const embeddedOnly = /^(POSTGRES_PORT|TEMPORAL_PORT|TEMPORAL_UI_PORT)=/;
  const ownTemporal = Boolean(process.env.TEMPORAL_ADDRESS);
  log('settings');
  for (const line of describeSettings(settings)) {
    if (!(ownTemporal && embeddedOnly.test(line))) console.log(`  ${line}`);
  }
  if (ownTemporal) console.log(`  TEMPORAL_ADDRESS=${process.env.TEMPORAL_ADDRESS}`);
  if (process.env.HOOKYARD_DELIVERY_ALLOW === undefined) {
    log(
      `destinations on this machine (${LOOPBACK_HOSTS.join(', ')}) are allowed while there is only one organization; set HOOKYARD_DELIVERY_ALLOW to change this`,
    );
  }
}

async function printReady(
  settings: Settings,
  { temporalUiUrl, runtimeUrl }: Stack,
  { createdKey, organization }: PreparedDatabase,
): Promise<void> {
  const keyFile = settings.HOOKYARD_API_KEY ? null : apiKeyFile(settings);
  const dataDir = settings.HOOKYARD_DATA_DIR;
  log(`ready (${seconds(performance.now() - began)})`);
  const apiUrl = roles.api?.url ?? '';
  const consoleUrl = settings.HOOKYARD_CONSOLE
    ? await consoleLink(settings.DATABASE_DIRECT_URL ?? runtimeUrl, organization.id, apiUrl)
    : null;
  for (const line of firstSteps({ apiUrl, consoleUrl, temporalUiUrl, createdKey, keyFile, dataDir })) console.log(line);
}

async function consoleLink(databaseUrl: string, organizationId: string, apiUrl: string): Promise<string> {
  const address = `${apiUrl.replace('//0.0.0.0:', '//localhost:').replace('//[::]:', '//localhost:')}/console/`;
  const code = await onDatabase(databaseUrl, (pool) => makeConsoleCode(pool, organizationId, 'npm start')).catch(
    // Failure policy: one may sign in with a key.
    () => null,
  );
  return code === null ? address : `${address}#code=${code}`;
}

/** One line for each problem; a stack trace only for unexpected errors. */
function problems(error: unknown): string[] {
  if (error instanceof ConfigError) return error.problems;
  if (error instanceof StartupError) return [error.message];
  return [error instanceof Error && process.env.LOG_LEVEL === 'debug' ? (error.stack ?? '') : oneLine(error)];
}

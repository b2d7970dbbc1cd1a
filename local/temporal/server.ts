// The embedded Temporal server: one process with all four services on loopback, its data in the embedded PostgreSQL.
// And its UI: one process that serves the web pages and talks to the server's frontend.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { WITHOUT_PROXY } from '../../temporal-config/client.ts';
import { type Log, oneLine, PortTakenError, phase, StartupError } from '../errors.ts';
import { freePorts, isFree, isWell } from '../ports.ts';
import { type Child, type ChildService, serves, startChild, startService } from '../process.ts';
import { updateTemporalSchemas } from './schema.ts';

const readyDeadlineMs = 120_000;
const stopGraceMs = 15_000;
const dynamicConfig = join(import.meta.dirname, '..', '..', 'temporal-config', 'dynamic-config.yaml');

export interface TemporalOptions {
  dataDir: string;
  port: number;
  programs: { server: string; sqlTool: string };
  databaseUrl: string;
  visibilityUrl: string;
  log: Log;
}

/** @throws StartupError when it does not answer within two minutes */
export async function startTemporal(options: TemporalOptions): Promise<ChildService> {
  const { databaseUrl, visibilityUrl, programs, log } = options;
  await phase(log, 'the Temporal schemas are up to date', () =>
    updateTemporalSchemas({ sqlTool: programs.sqlTool, databaseUrl, visibilityUrl }),
  );
  return await startService(
    () => launch(options),
    (child) => child.stop('SIGTERM', stopGraceMs),
  );
}

async function launch(options: TemporalOptions): Promise<Child> {
  const { dataDir, port, programs } = options;
  const folder = join(dataDir, 'temporal');
  mkdirSync(folder, { recursive: true });
  const configFile = join(folder, 'server.yaml');
  // JSON is YAML; the file holds the database password.
  const config = serverConfig(options, await claimInternalPorts(portsFile(dataDir)));
  writeFileSync(configFile, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  const memoryMebibytes = Math.min(2048, Math.max(512, Math.floor(totalmem() / 1024 / 1024 / 4)));
  const child = await startChild({
    name: 'temporal',
    dataDir,
    command: programs.server,
    args: ['--config-file', configFile, '--allow-no-auth', 'start'],
    // A larger heap before each collection saves 20 to 25 % of the server's CPU; the limit keeps it bounded.
    env: { ...process.env, GOGC: '400', GOMEMLIMIT: `${memoryMebibytes}MiB` },
  });
  if (await serves(child, () => isServing(`127.0.0.1:${port}`), readyDeadlineMs)) return child;
  const ended = !child.running;
  await child.stop('SIGTERM', stopGraceMs);
  throw explain(child.output(), ended, dataDir);
}

export const services = ['frontend', 'history', 'matching', 'worker'] as const;
/** In the order of the services. */
export interface ServicePorts {
  grpc: number[];
  membership: number[];
}

const portsFile = (dataDir: string) => join(dataDir, 'temporal', 'ports.json');

export function internalPorts(dataDir: string): number[] {
  const { grpc, membership }: ServicePorts = JSON.parse(readFileSync(portsFile(dataDir), 'utf8'));
  return [...grpc, ...membership];
}

/**
 * Ports of the services among themselves, kept between starts: a restarted server is found where its peers look for it.
 */
async function claimInternalPorts(file: string): Promise<ServicePorts> {
  if (existsSync(file)) {
    const kept: ServicePorts = JSON.parse(readFileSync(file, 'utf8'));
    const free = await Promise.all([...kept.grpc, ...kept.membership].map((port) => isFree(port)));
    if (free.every(Boolean)) return kept;
  }
  const ports = await freePorts(2 * services.length);
  const chosen = { grpc: ports.slice(services.length), membership: ports.slice(0, services.length) };
  writeFileSync(file, `${JSON.stringify(chosen)}\n`);
  return chosen;
}

/** https://docs.temporal.io/references/configuration */
export function serverConfig(
  options: Pick<TemporalOptions, 'port' | 'databaseUrl' | 'visibilityUrl'>,
  ports: ServicePorts,
) {
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: 4, // cannot be changed later; plenty for one machine
      datastores: {
        default: { sql: store(options.databaseUrl, 12) },
        visibility: { sql: store(options.visibilityUrl, 4) },
      },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: Object.fromEntries(
      services.map((name, i) => {
        const grpcPort = name === 'frontend' ? options.port : ports.grpc[i];
        return [name, { rpc: { grpcPort, membershipPort: ports.membership[i], bindOnIP: '127.0.0.1' } }];
      }),
    ),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `127.0.0.1:${options.port}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    publicClient: { hostPort: `127.0.0.1:${options.port}` },
    dynamicConfigClient: { filepath: dynamicConfig, pollInterval: '60s' },
  };
}

function store(url: string, connections: number): object {
  const { hostname, port, username, password, pathname } = new URL(url);
  return {
    pluginName: 'postgres12_pgx', // prepared statements: a quarter more deliveries a second than postgres12
    databaseName: pathname.slice(1),
    connectAddr: `${hostname}:${port}`,
    connectProtocol: 'tcp',
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    maxConns: connections,
    maxIdleConns: connections,
    maxConnLifetime: '1h',
  };
}

async function isServing(address: string): Promise<boolean> {
  const connection = Connection.lazy({ address, channelArgs: WITHOUT_PROXY });
  try {
    const health = await connection.withDeadline(Date.now() + 1_000, () =>
      connection.healthService.check({ service: 'temporal.api.workflowservice.v1.WorkflowService' }),
    );
    return health.status === 1; // 1: SERVING, https://github.com/grpc/grpc/blob/master/doc/health-checking.md
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}

function explain(output: string, ended: boolean, dataDir: string): StartupError {
  const log = `${dataDir}/logs/temporal.log`;
  if (/address already in use/.test(output))
    return new PortTakenError(
      `The Temporal server's port is in use by another program; stop it, or set TEMPORAL_PORT to another port (see ${log})`,
    );
  if (!ended)
    return new StartupError(`The Temporal server did not become ready within ${readyDeadlineMs / 1000} s; see ${log}`);
  const lines = output.trim().split('\n');
  const last = lines.findLast((line) => /fatal|error|unable|panic/i.test(line)) ?? lines.at(-1) ?? '';
  return new StartupError(`The Temporal server exited: ${oneLine(last).slice(0, 400)} (see ${log})`);
}

const uiReadyDeadlineMs = 30_000;

interface TemporalUiOptions {
  dataDir: string;
  program: string;
  port: number;
  temporalAddress: string;
  namespace: string;
}

/** It answers on `http://127.0.0.1:<port>`. @throws StartupError when it does not within 30 s */
export async function startTemporalUi(options: TemporalUiOptions): Promise<ChildService> {
  return await startService(
    () => launchUi(options),
    (child) => child.stop('SIGTERM', 5_000),
  );
}

async function launchUi(options: TemporalUiOptions): Promise<Child> {
  const { dataDir, port } = options;
  const root = join(dataDir, 'temporal');
  mkdirSync(join(root, 'ui'), { recursive: true });
  writeFileSync(join(root, 'ui', 'hookyard.yaml'), `${JSON.stringify(uiConfig(options), null, 2)}\n`);
  const child = await startChild({
    name: 'temporal-ui',
    dataDir,
    command: options.program,
    args: ['--root', root, '--config', 'ui', '--env', 'hookyard', 'start'],
    env: { PATH: process.env.PATH }, // the UI would read TEMPORAL_* variables meant for the SDK as its own settings
  });
  const isUp = () => isWell(`http://127.0.0.1:${port}/healthz`, 1_000);
  if (await serves(child, isUp, uiReadyDeadlineMs)) return child;
  await child.stop('SIGTERM', 5_000);
  throw new StartupError(
    `The Temporal UI is not responding on port ${port}; see ${dataDir}/logs/temporal-ui.log, or set TEMPORAL_UI_PORT to another port`,
  );
}

function uiConfig(options: TemporalUiOptions): object {
  return {
    temporalGrpcAddress: options.temporalAddress,
    host: '127.0.0.1',
    port: options.port,
    enableUi: true,
    cors: {
      allowOrigins: [`http://localhost:${options.port}`, `http://127.0.0.1:${options.port}`],
      cookieInsecure: true,
    },
    refreshInterval: '1h',
    defaultNamespace: options.namespace,
    disableNewsFetch: true,
    notifyOnNewVersion: false,
    hideLogs: true,
    // Started by hand, reset or updated, no workflow of Hookyard does anything useful (docs/operate/temporal-ui.md).
    startWorkflowDisabled: true,
    workflowResetDisabled: true,
    workflowUpdateDisabled: true,
  };
}

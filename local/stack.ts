// The embedded stack of one machine as a library: PostgreSQL, Temporal, its UI. Used by `npm start`, the tests and the
// bench.
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Connection } from '@temporalio/client';
import { settleAll } from '../core/fairness/concurrency.ts';
import {
  clientOptions,
  defaultNamespace,
  type TemporalConnection,
  temporalConnectionOptions,
} from '../temporal-config/client.ts';
import { columnsOfAllNamespaces, ensureNamespace } from '../temporal-config/namespace.ts';
import { ensureBinaries } from './temporal/binaries.ts';
import { explainFileError, type Log, oneLine, PortTakenError, phase, StartupError } from './errors.ts';
import { lockDataDir, stopLeftovers } from './lock.ts';
import { claimPort } from './ports.ts';
import { type OtherPostgres, startPostgres } from './postgres/server.ts';
import type { DatabaseRole } from './postgres/roles.ts';
import type { ChildService } from './process.ts';
import { internalPorts, startTemporal, startTemporalUi } from './temporal/server.ts';
import { dropUnusedIndexes } from './temporal/schema.ts';

export interface StackOptions {
  dataDir: string;
  /** Ports on 127.0.0.1; 0 chooses a free one. `uiPort: null` starts no UI. */
  postgresPort: number;
  /** Settings of the embedded PostgreSQL instead of its usual ones, for example `max_connections`. */
  postgresSettings?: Record<string, string>;
  /** Instead of it. */
  otherPostgres?: OtherPostgres;
  temporalPort: number;
  uiPort: number | null;
  /** Use this PostgreSQL for Hookyard's own data instead of the embedded one. */
  databaseUrl?: string;
  /** Use the Temporal server that TEMPORAL_* in this environment describe, instead of the embedded one. */
  temporalEnv?: NodeJS.ProcessEnv;
  downloadUrl?: string;
  /** Runs when the data folder is ours, before anything is started: further checks of the caller. */
  onLocked?: () => Promise<void>;
  /**
   * Runs as soon as Hookyard's database can be used, beside the start of Temporal (migrations); as the owner of its
   * tables.
   */
  onDatabase?: (databaseUrl: string) => Promise<void>;
  signal?: AbortSignal;
  log: Log;
}

/** The embedded servers: `start`, `stop`, `kill`, `pid`; null when one's own is used. */
interface Parts {
  postgres: ChildService | null;
  temporal: ChildService | null;
  ui: ChildService | null;
}

export interface Stack extends Parts {
  dataDir: string;
  databaseUrl: string;
  runtimeUrl: string;
  temporalAddress: string;
  namespace: string;
  temporalUiUrl: string | null;
  ports(): number[];
  /** Ends everything this stack started, in order; safe to call more than once. */
  stop(): Promise<void>;
  /** SIGKILL to everything this stack started; the next start cleans up. */
  kill(): Promise<void>;
}

/** Names of the children in the order they are ended. */
const endOrder = ['api', 'worker', 'temporal-ui', 'temporal', 'postgres'];
const leftoverGraceMs = 10_000;
// So often the servers are started when another program was quicker at a port; two stacks that start side by side may
// meet.
const mostTries = 3;

/** @throws StartupError with one clear line; everything already started is ended first */
export async function startStack(options: StackOptions): Promise<Stack> {
  const dataDir = openDataDir(options.dataDir);
  const unlock = await lockDataDir(dataDir);
  const parts: Parts = { postgres: null, temporal: null, ui: null };
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= stopParts(parts).finally(unlock);
    return stopped;
  };
  try {
    await stopLeftovers(dataDir, endOrder, leftoverGraceMs, options.log);
    await options.onLocked?.();
    const started = await startOnFreePorts({ ...options, dataDir }, parts);
    const kill = async () => {
      await Promise.all([parts.ui?.kill(), parts.temporal?.kill(), parts.postgres?.kill()]);
    };
    return { ...started, ...parts, dataDir, stop, kill };
  } catch (error) {
    await stop();
    throw explainFileError(error, dataDir);
  }
}

async function stopParts(parts: Parts): Promise<void> {
  await parts.ui?.stop();
  await parts.temporal?.stop();
  await parts.postgres?.stop();
}

/**
 * Creates the data folder. Others may pass through it (PostgreSQL's user does) but not list it; what is secret is 0600.
 */
function openDataDir(path: string): string {
  const dataDir = resolve(path);
  try {
    for (const folder of ['run', 'logs']) makeFolder(join(dataDir, folder));
    return realpathSync(dataDir);
  } catch (error) {
    const explained = explainFileError(error, dataDir);
    if (explained instanceof StartupError) throw explained;
    throw new StartupError(
      `The data folder ${dataDir} cannot be created (${oneLine(error)}); set HOOKYARD_DATA_DIR to another folder`,
    );
  }
}

// Not by Node's recursive mkdir: on a read-only file system that says ENOENT, and in /proc it never returns (Node
// 24.21).
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o711 });
  } catch (error) {
    if (!existsSync(path)) throw error; // else another start was quicker
  }
}

/** Between the choice of a port and a server that listens on it, another program may take it. */
async function startOnFreePorts(options: StackOptions, parts: Parts) {
  for (let left = mostTries - 1; ; left -= 1) {
    try {
      return await startParts(options, parts);
    } catch (error) {
      if (!(error instanceof PortTakenError) || left === 0) throw error;
      options.log('another program has taken a port; starting the servers on other ports');
      await stopParts(parts);
    }
  }
}

async function startParts(options: StackOptions, parts: Parts) {
  const { dataDir, databaseUrl, log } = options;
  const ownTemporal = options.temporalEnv?.TEMPORAL_ADDRESS ? options.temporalEnv : undefined;
  const ports = await claimPorts(options, ownTemporal === undefined);
  const startDatabase = () =>
    phase(log, `PostgreSQL listens on 127.0.0.1:${ports.postgres}`, async () => {
      const { postgresSettings: settings, otherPostgres: other } = options;
      const started = await startPostgres({ dataDir, port: ports.postgres, settings, other, log });
      parts.postgres = started.service;
      await started.setUpRoles();
      return started;
    });
  // Both run at once; whichever fails first is reported, the other is awaited so that nothing is left half started.
  const [postgres, programs] = await settleAll([
    databaseUrl && ownTemporal ? null : startDatabase(),
    ownTemporal ? null : ensureBinaries({ ...options, ui: ports.ui !== null }),
  ]);
  options.signal?.throwIfAborted();
  const urlAs = (role?: DatabaseRole) => databaseUrl ?? postgres?.url('hookyard', role) ?? '';
  const connection = temporalConnectionOptions(ownTemporal ?? { TEMPORAL_ADDRESS: `127.0.0.1:${ports.temporal}` });
  const namespace = ownTemporal ? connection.namespace : options.temporalEnv?.TEMPORAL_NAMESPACE || defaultNamespace;
  const temporalAddress = connection.connectionOptions.address;
  const visibilityUrl = ownTemporal ? undefined : postgres?.url('temporal_visibility', 'hookyard_temporal');
  const startServer = async () => {
    if (programs && postgres && visibilityUrl !== undefined)
      await phase(log, `Temporal listens on 127.0.0.1:${ports.temporal}`, async () => {
        const urls = { databaseUrl: postgres.url('temporal', 'hookyard_temporal'), visibilityUrl };
        parts.temporal = await startTemporal({ dataDir, port: ports.temporal, programs, ...urls, log });
      });
    await phase(log, `the namespace ${namespace} is ready`, () =>
      setUpNamespace(connection, namespace, visibilityUrl, log),
    );
  };
  const startUi = async () => {
    const { ui: port } = ports;
    if (port === null || !programs) return;
    await phase(log, `the Temporal UI listens on 127.0.0.1:${port}`, async () => {
      parts.ui = await startTemporalUi({ dataDir, program: programs.ui, port, temporalAddress, namespace });
    });
  };
  await settleAll([options.onDatabase?.(urlAs('hookyard_owner')), startServer(), startUi()]);
  options.signal?.throwIfAborted();
  const listening = [parts.postgres && ports.postgres, parts.temporal && ports.temporal, parts.ui && ports.ui];
  return {
    databaseUrl: urlAs(),
    runtimeUrl: urlAs('hookyard_runtime'),
    ...{ temporalAddress, namespace },
    temporalUiUrl: parts.ui && `http://localhost:${ports.ui}`,
    ports: () => [...listening, ...(parts.temporal ? internalPorts(dataDir) : [])].filter((port) => port !== null),
  };
}

async function claimPorts(options: StackOptions, embeddedTemporal: boolean) {
  const needed = !options.databaseUrl || embeddedTemporal;
  return {
    postgres: needed ? await claimPort(options.postgresPort, 'POSTGRES_PORT', 'PostgreSQL') : 0,
    temporal: embeddedTemporal ? await claimPort(options.temporalPort, 'TEMPORAL_PORT', 'the Temporal server') : 0,
    ui:
      embeddedTemporal && options.uiPort !== null
        ? await claimPort(options.uiPort, 'TEMPORAL_UI_PORT', 'the Temporal UI')
        : null,
  };
}

/** @param visibilityUrl of the embedded server: its indexes that are not used are dropped */
async function setUpNamespace(
  temporal: TemporalConnection,
  namespace: string,
  visibilityUrl: string | undefined,
  log: Log,
): Promise<void> {
  const options = clientOptions(temporal);
  const connection = await Connection.connect({ ...options, connectTimeout: '15s' }).catch((error) => {
    throw new StartupError(
      `Temporal at ${options.address} cannot be reached (${oneLine(error)}); check TEMPORAL_ADDRESS, TEMPORAL_API_KEY and TEMPORAL_TLS_*`,
    );
  });
  try {
    await ensureNamespace(connection, namespace, log);
    if (visibilityUrl === undefined) return;
    await dropUnusedIndexes(visibilityUrl, { used: await columnsOfAllNamespaces(connection) });
  } finally {
    await connection.close();
  }
}

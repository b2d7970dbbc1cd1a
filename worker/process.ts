// The worker process: settings, waiting for PostgreSQL and Temporal, and a graceful shutdown. main.ts starts it.
import { setTimeout as delay } from 'node:timers/promises';
import { NativeConnection } from '@temporalio/worker';
import { describeSettings, readLogSettings, readSettings, type Settings } from '../core/config/config.ts';
import { ConfigError, withSecretFiles } from '../core/config/secret-files.ts';
import { endWithParent, onEndRequest, sayReady } from '../core/process/end-request.ts';
import { createLog, exitWith, type Log, logForNode, throttled } from '../core/process/log.ts';
import { causeOf } from '../core/process/log-cause.ts';
import type { Tuning } from '../core/config/tuning.ts';
import { databaseUrl, findDatabase } from '../db/connections/client.ts';
import { prepareDatabase } from '../db/schema/prepare.ts';
import { nativeOptions, temporalConnectionOptions } from '../temporal-config/client.ts';
import { ensureNamespace } from '../temporal-config/namespace.ts';
import { installTemporalRuntime } from './temporal/log.ts';
import { temporalMetrics } from './temporal/metrics.ts';
import { runWorker } from './worker.ts';

const WAIT_FOR_SERVERS_MS = 120_000;
const RETRY_MS = 2000;
// After the attempts of the relay and then those of workflows, which have the grace period each: what is left waits for
// servers that may be gone.
const LAST_STEPS_MS = 30_000;

export async function runWorkerProcess(tuning: Tuning): Promise<void> {
  const canEndInOrder = endWithParent();
  const log = createLog(readLogSettings(process.env), 'worker');
  logForNode(log);
  await run(tuning, log, canEndInOrder).catch((error: unknown) => exitWith(log, error));
}

async function run(tuning: Tuning, log: Log, canEndInOrder: () => void): Promise<void> {
  const env = withSecretFiles(process.env);
  const settings = readSettings(env);
  const url = databaseUrl(settings, 'DATABASE_URL');
  if (url === undefined)
    throw new ConfigError([
      'DATABASE_URL must be set to the URL of the PostgreSQL database, for example postgres://user:password@host:5432/hookyard',
    ]);
  // npm start, which names the data folder, has printed them already.
  if (!process.argv.some((arg) => arg.startsWith('--data-dir=')))
    log.info({ settings: describeSettings(settings) }, 'worker starting');
  const metrics = await temporalMetrics(settings, env, log, process.argv);
  installTemporalRuntime(log, metrics?.options);
  const temporal = temporalConnectionOptions(env);
  const database = await waitFor('PostgreSQL (DATABASE_URL)', log, async () => {
    const found = await findDatabase(settings, url);
    await prepareDatabase(settings, found.directUrl);
    return found;
  });
  await waitFor(`Temporal at ${temporal.connectionOptions.address} (TEMPORAL_ADDRESS)`, log, async () => {
    const connection = await NativeConnection.connect(nativeOptions(temporal));
    await ensureNamespace(connection, temporal.namespace, (details) =>
      log.warn({ details }, 'Temporal refused to set up the namespace'),
    ).finally(() => connection.close());
  });
  const worker = await runWorker({ settings, tuning, env, database, temporal, log, temporalMetrics: metrics });
  log.info('worker ready');
  sayReady();
  endWith(worker.stop, settings, log);
  canEndInOrder();
  await worker.ended;
}

async function waitFor<T>(what: string, log: Log, connect: () => Promise<T>): Promise<T> {
  const until = performance.now() + WAIT_FOR_SERVERS_MS;
  for (;;) {
    try {
      return await connect();
    } catch (error) {
      if (error instanceof ConfigError || performance.now() > until) throw error;
      throttled(log).warn({ cause: causeOf(error) }, `waiting for ${what}`);
    }
    await delay(RETRY_MS);
  }
}

function endWith(stop: () => Promise<void>, settings: Settings, log: Log): void {
  onEndRequest((reason, count) => {
    if (count > 1) return;
    throttled(log).flush();
    log.info(
      { reason, seconds: settings.HOOKYARD_SHUTDOWN_SECONDS },
      'worker shutting down; attempts in progress can finish',
    );
    setTimeout(
      () => {
        log.error('worker did not shut down in time');
        process.exit(1);
      },
      2 * settings.HOOKYARD_SHUTDOWN_SECONDS * 1000 + LAST_STEPS_MS,
    ).unref();
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ cause: causeOf(error) }, 'worker did not shut down cleanly');
        process.exit(1);
      },
    );
  });
}

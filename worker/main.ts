// The worker process: settings, waiting for PostgreSQL and Temporal, and a graceful shutdown.
import { NativeConnection, Runtime } from '@temporalio/worker';
import { ConfigError, describeSettings, readSettings, type Settings } from '../core/config.ts';
import { onEndRequest } from '../core/end-request.ts';
import { createLog, type Log } from '../core/log.ts';
import { prepareDatabase } from '../db/prepare.ts';
import { temporalConnectionOptions } from '../temporal-config/connection.ts';
import { ensureNamespace } from '../temporal-config/namespace.ts';
import { temporalLogger } from './temporal-log.ts';
import { runWorker } from './worker.ts';

const WAIT_FOR_SERVERS_MS = 120_000;
const RETRY_MS = 2000;

async function main(): Promise<void> {
  const settings = readSettings(process.env);
  const log = createLog(settings, 'worker');
  const databaseUrl = settings.DATABASE_URL;
  if (!databaseUrl)
    throw new ConfigError([
      'DATABASE_URL must name the PostgreSQL database, for example postgres://user:password@host:5432/hookyard',
    ]);
  // npm start, which names the data folder, has printed them already.
  if (!process.argv.some((arg) => arg.startsWith('--data-dir=')))
    log.info({ settings: describeSettings(settings) }, 'the worker starts');
  Runtime.install({ logger: temporalLogger(log), shutdownSignals: [] });
  const temporal = temporalConnectionOptions();
  await waitFor('PostgreSQL (DATABASE_URL)', log, () => prepareDatabase(settings, databaseUrl));
  await waitFor(`Temporal at ${temporal.connectionOptions.address} (TEMPORAL_ADDRESS)`, log, async () => {
    const connection = await NativeConnection.connect(temporal.connectionOptions);
    await ensureNamespace(connection, temporal.namespace, (line) => log.warn(line)).finally(() => connection.close());
  });
  const worker = await runWorker(settings, databaseUrl, temporal, log);
  log.info('the worker is ready');
  process.send?.({ type: 'ready' });
  endWith(worker.stop, settings, log);
  await worker.ended;
}

/** Retries until it works; logs what it waits for. */
async function waitFor<T>(what: string, log: Log, connect: () => Promise<T>): Promise<T> {
  const until = performance.now() + WAIT_FOR_SERVERS_MS;
  for (;;) {
    try {
      return await connect();
    } catch (error) {
      if (error instanceof ConfigError || performance.now() > until) throw error;
      log.warn({ error: error instanceof Error ? error.message : String(error) }, `waiting for ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

function endWith(stop: () => Promise<void>, settings: Settings, log: Log): void {
  onEndRequest((reason, count) => {
    if (count > 1) return;
    log.info({ reason, seconds: settings.HOOKYARD_SHUTDOWN_SECONDS }, 'the worker ends; running attempts may finish');
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ error: String(error) }, 'worker did not end cleanly');
        process.exit(1);
      },
    );
  });
}

main().catch((error: unknown) => {
  const lines =
    error instanceof ConfigError
      ? error.problems
      : [`Hookyard worker cannot run: ${error instanceof Error ? error.message : String(error)}`];
  for (const line of lines) process.stderr.write(`${line}\n`);
  process.exit(1);
});

// The Temporal UI: one process that serves the web pages and talks to the server's frontend.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartupError } from '../errors.ts';
import { isWell, waitFor } from '../wait.ts';
import { type Child, type ChildService, startChild, startService } from '../process.ts';

const readyDeadlineMs = 30_000;

export interface TemporalUiOptions {
  dataDir: string;
  program: string;
  port: number;
  temporalAddress: string;
  namespace: string;
}

/**
 * Starts the UI on loopback; it answers on `http://127.0.0.1:<port>`.
 * @throws StartupError when it does not answer within 30 s
 */
export async function startTemporalUi(options: TemporalUiOptions): Promise<ChildService> {
  return await startService(
    () => launch(options),
    (child) => child.stop('SIGTERM', 5_000),
  );
}

async function launch(options: TemporalUiOptions): Promise<Child> {
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
  const answer = await waitFor(async () => (child.running ? await answers(port) : false), readyDeadlineMs);
  if (answer === true) return child;
  await child.stop('SIGTERM', 5_000);
  throw new StartupError(
    `The Temporal UI is not responding on port ${port}; see ${dataDir}/logs/temporal-ui.log, or set TEMPORAL_UI_PORT to another port.`,
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

const answers = async (port: number): Promise<true | undefined> =>
  (await isWell(`http://127.0.0.1:${port}/healthz`, 1_000)) || undefined;

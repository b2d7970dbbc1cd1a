// The metrics of Temporal's SDK. Its core serves them by itself, on a port of its own of this machine, from which the
// port for metrics takes them, so that there is one port to scrape. No destination reaches it
// (core/http/addresses.ts). Where nothing is scraped, it sends them over OTLP, if its variables are set: the
// core does one of the two.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { TelemetryOptions } from '@temporalio/worker';
import { Agent, request } from 'undici';
import type { Settings } from '../../core/config/config.ts';
import type { Log } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { metricsPort } from '../../core/metrics/ports.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { metricsInterval, metricsTarget, type OtelVariables } from '../../telemetry/otel-variables.ts';

const HOST = '127.0.0.1';
const DEADLINE_MS = 2000;

export interface TemporalMetrics {
  /** Of 127.0.0.1, where the SDK serves them. Undefined when it sends them. */
  port?: number;
  options: TelemetryOptions;
  /** Where they are served. @returns undefined while they cannot be read: the other metrics are shown all the same */
  text?: () => Promise<string | undefined>;
}

// npm start keeps the API from it too, so it chooses the port.
const PORT_ARGUMENT = '--temporal-metrics-port=';

/**
 * @param args of this process
 * @returns undefined when this process neither serves nor sends metrics
 */
export async function temporalMetrics(
  settings: Pick<Settings, 'OTEL_EXPORTER_PROMETHEUS_PORT'>,
  env: OtelVariables,
  log: Log,
  args: readonly string[] = [],
): Promise<TemporalMetrics | undefined> {
  if (metricsPort(settings, 'worker') === 0) return sentMetrics(env);
  const given = args.find((arg) => arg.startsWith(PORT_ARGUMENT))?.slice(PORT_ARGUMENT.length);
  return servedMetrics(Number(given) || (await freePort()), log);
}

async function sentMetrics(env: OtelVariables): Promise<TemporalMetrics | undefined> {
  const target = metricsTarget(env);
  if (target === null) return undefined;
  // Not loaded otherwise.
  const { resourceTexts } = await import('../../telemetry/open-telemetry.ts');
  return {
    options: {
      metrics: {
        globalTags: resourceTexts('worker', packageJson.version),
        attachServiceName: false,
        otel: { ...target, http: true, metricsExportInterval: metricsInterval(env), useSecondsForDurations: true },
      },
    },
  };
}

function servedMetrics(port: number, log: Log): TemporalMetrics {
  // Of its own, because proxies of the environment are not for this machine.
  const agent = new Agent({ connections: 1 });
  let isAway = false;
  return {
    port,
    options: {
      metrics: {
        prometheus: {
          bindAddress: `${HOST}:${port}`,
          countersTotalSuffix: true,
          unitSuffix: true,
          useSecondsForDurations: true,
        },
      },
    },
    async text() {
      try {
        const text = await read(agent, port);
        isAway = false;
        return text;
      } catch (error) {
        if (!isAway) log.warn({ cause: causeOf(error) }, "failed to read the Temporal SDK's metrics");
        isAway = true;
        return undefined;
      }
    },
  };
}

async function read(dispatcher: Agent, port: number): Promise<string> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const { statusCode, body } = await request(`http://${HOST}:${port}/metrics`, { dispatcher, signal });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`The Temporal SDK's metrics port returned ${statusCode}`);
  return text;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

// Where the metrics go: to what scrapes them, and by OTLP when the standard variables of OpenTelemetry say so.
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import {
  MeterProvider,
  type MetricProducer,
  MetricReader,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import type { Log } from '../core/process/log.ts';
import { causeOf } from '../core/process/log-cause.ts';
import type { Role } from '../core/metrics/instruments.ts';
import { processResource, tellProblems } from './open-telemetry.ts';
import { metricsInterval, metricsProtocol, type OtelVariables, PROTOCOL, sendsMetrics } from './otel-variables.ts';

export interface Exporters {
  /** All metrics as Prometheus reads them. */
  text(): Promise<string>;
  /** Sends the last values by OTLP. */
  stop(): Promise<void>;
}

// How long the last values may take at the end of the process.
const LAST_EXPORT_MS = 2000;

/** Reads on request. */
class ScrapeReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** Failure policy: metrics that cannot be sent are lost, and the log says so; the next ones are sent. */
export async function createExporters(
  producer: MetricProducer,
  { role, version, env, log }: { role: Role; version: string; env: OtelVariables; log: Log },
): Promise<Exporters> {
  tellProblems(log);
  const scrape = new ScrapeReader({ metricProducers: [producer] });
  const periodic = sendsMetrics(env) ? await otlpReader(producer, env, log) : null;
  const provider = new MeterProvider({
    resource: processResource(role, version),
    readers: periodic === null ? [scrape] : [scrape, periodic],
  });
  const serializer = new PrometheusSerializer('', false, undefined, false, true);
  return {
    async text() {
      const { resourceMetrics, errors } = await scrape.collect();
      for (const error of errors) log.warn({ cause: causeOf(error) }, 'a metric could not be read');
      return serializer.serialize(resourceMetrics);
    },
    stop: () =>
      provider
        .shutdown({ timeoutMillis: LAST_EXPORT_MS })
        .catch((error: unknown) => log.warn({ cause: causeOf(error) }, 'the last metrics were not sent')),
  };
}

async function otlpReader(producer: MetricProducer, env: OtelVariables, log: Log): Promise<MetricReader | null> {
  const protocol = metricsProtocol(env);
  if (protocol !== PROTOCOL) {
    log.warn({ protocol }, `metrics are not sent: set OTEL_EXPORTER_OTLP_METRICS_PROTOCOL to ${PROTOCOL}`);
    return null;
  }
  // Not loaded otherwise.
  const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-proto');
  const exportIntervalMillis = metricsInterval(env);
  log.info({ everyMs: exportIntervalMillis }, 'metrics are sent by OTLP');
  return new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter(),
    exportIntervalMillis,
    exportTimeoutMillis: Math.min(exportIntervalMillis, 10_000),
    metricProducers: [producer],
  });
}

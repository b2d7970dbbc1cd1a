// Where the metrics go: to what scrapes them, and over OTLP when the standard variables of OpenTelemetry say so.
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  DataPointType,
  type Histogram as HistogramValue,
  MeterProvider,
  type MetricData,
  type MetricProducer,
  MetricReader,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import type { Log } from '../core/process/log.ts';
import { causeOf } from '../core/process/log-cause.ts';
import type { AnyInstrument, Distribution, Point, Role } from '../core/metrics/instruments.ts';
import { processResource, tellProblems } from './open-telemetry.ts';
import { metricsInterval, metricsProtocol, type OtelVariables, PROTOCOL, sendsMetrics } from './otel-variables.ts';
import { type HrTime, ValueType } from '@opentelemetry/api';
import { emptyResource } from '@opentelemetry/resources';
import { instruments } from '../core/metrics/index.ts';

// How long the last values may take at the end of the process.
const LAST_EXPORT_MS = 2000;

class ScrapeReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** Failure policy: metrics that cannot be sent are lost, and the log says so; the next ones are sent. */
export async function createExporters(
  { role, version, env, log }: { role: Role; version: string; env: OtelVariables; log: Log },
  refresh: () => Promise<void>,
) {
  tellProblems(log);
  const producer = createProducer(role, version, refresh);
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
      for (const error of errors) log.warn({ cause: causeOf(error) }, 'failed to read a metric');
      return serializer.serialize(resourceMetrics);
    },
    stop: () =>
      provider
        .shutdown({ timeoutMillis: LAST_EXPORT_MS })
        .catch((error: unknown) => log.warn({ cause: causeOf(error) }, 'failed to send the last metrics')),
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
  log.info({ everyMs: exportIntervalMillis }, 'metrics are sent over OTLP');
  return new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter(),
    exportIntervalMillis,
    exportTimeoutMillis: Math.min(exportIntervalMillis, 10_000),
    metricProducers: [producer],
  });
}

// The instruments of this process (core/metrics/) as data of OpenTelemetry, for all exporters.

/** Sums begin with the process, whatever temporality an exporter prefers. */
function createProducer(role: Role, version: string, refresh: () => Promise<void>): MetricProducer {
  const startTime = hrTime(Date.now() - process.uptime() * 1000);
  const own = instruments.filter(({ definition }) => definition.in.includes(role));
  return {
    async collect(): Promise<CollectionResult> {
      await refresh();
      const endTime = hrTime(Date.now());
      const errors: unknown[] = [];
      const metrics: MetricData[] = [];
      for (const instrument of own) {
        try {
          const data = dataOf(instrument, startTime, endTime);
          if (data.dataPoints.length > 0) metrics.push(data);
        } catch (error) {
          errors.push(error);
        }
      }
      const scope = { name: 'hookyard', version };
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics: [{ scope, metrics }] }, errors };
    },
  };
}

function dataOf(instrument: AnyInstrument, startTime: HrTime, endTime: HrTime): MetricData {
  const { name, help, unit } = instrument.definition;
  const common = {
    descriptor: { name, description: help, unit, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const at = <Value>({ labels: attributes, value }: Point<Value>): DataPoint<Value> => ({
    startTime,
    endTime,
    attributes,
    value,
  });
  if (instrument.kind === 'histogram') {
    const boundaries = [...instrument.bounds];
    const histogram = ({ counts, sum, count }: Distribution): HistogramValue => ({
      buckets: { boundaries, counts: [...counts] },
      sum,
      count,
    });
    const dataPoints = instrument.points().map((point) => at({ ...point, value: histogram(point.value) }));
    return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = instrument.points().map(at);
  if (instrument.kind === 'counter') {
    return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
  }
  return { ...common, dataPointType: DataPointType.GAUGE, dataPoints };
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

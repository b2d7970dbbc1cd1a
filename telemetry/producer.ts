// The instruments of this process (core/metrics/) as data of OpenTelemetry, for all exporters.
import { type HrTime, ValueType } from '@opentelemetry/api';
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  DataPointType,
  type Histogram as HistogramValue,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import { emptyResource } from '@opentelemetry/resources';
import { instruments } from '../core/metrics/index.ts';
import type { AnyInstrument, Distribution, Point, Role } from '../core/metrics/instruments.ts';

/**
 * Reads the instruments when an exporter asks. Sums begin with the process, whatever temporality an exporter prefers.
 * @param refresh called before
 */
export function createProducer(role: Role, version: string, refresh: () => Promise<void>): MetricProducer {
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
  const { name, help, unit = '' } = instrument.definition;
  const common = {
    descriptor: { name, description: help, unit, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const at = <Value>({ labels, value }: Point<Value>): DataPoint<Value> => ({
    startTime,
    endTime,
    attributes: labels,
    value,
  });
  if (instrument.kind === 'histogram') {
    const { bounds } = instrument;
    const dataPoints = instrument.points().map((point) => at({ ...point, value: histogram(point.value, bounds) }));
    return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = instrument.points().map(at);
  if (instrument.kind === 'counter') {
    return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
  }
  return { ...common, dataPointType: DataPointType.GAUGE, dataPoints };
}

function histogram({ counts, sum, count }: Distribution, bounds: readonly number[]): HistogramValue {
  return { buckets: { boundaries: [...bounds], counts: [...counts] }, sum, count };
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

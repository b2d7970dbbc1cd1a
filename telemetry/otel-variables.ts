// The variables that OpenTelemetry defines for exporters. The exporters themselves read those of their connection.
export interface OtelVariables {
  OTEL_SDK_DISABLED?: string;
  OTEL_METRICS_EXPORTER?: string;
  OTEL_METRIC_EXPORT_INTERVAL?: string;
  OTEL_TRACES_EXPORTER?: string;
  OTEL_TRACES_SAMPLER?: string;
  OTEL_TRACES_SAMPLER_ARG?: string;
  OTEL_BSP_SCHEDULE_DELAY?: string;
  OTEL_BSP_EXPORT_TIMEOUT?: string;
  OTEL_BSP_MAX_QUEUE_SIZE?: string;
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE?: string;
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT?: string;
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string;
  OTEL_EXPORTER_OTLP_PROTOCOL?: string;
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL?: string;
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL?: string;
}

/** The only one that is spoken. */
export const PROTOCOL = 'http/protobuf';

/** Whether metrics are to be sent by OTLP. */
export function sendsMetrics(env: OtelVariables): boolean {
  return isSent(env, env.OTEL_METRICS_EXPORTER, env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT);
}

/** Whether traces are to be sent by OTLP. */
export function sendsTraces(env: OtelVariables): boolean {
  return isSent(env, env.OTEL_TRACES_EXPORTER, env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT);
}

function isSent(env: OtelVariables, exporter: string | undefined, endpoint: string | undefined): boolean {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return false;
  const exporters = (exporter || 'otlp').split(',').map((name) => name.trim());
  return exporters.includes('otlp') && Boolean(endpoint || env.OTEL_EXPORTER_OTLP_ENDPOINT);
}

// The variables that OpenTelemetry defines for exporters. The exporter itself reads those of its connection.
export interface OtelVariables {
  OTEL_SDK_DISABLED?: string;
  OTEL_METRICS_EXPORTER?: string;
  OTEL_METRIC_EXPORT_INTERVAL?: string;
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT?: string;
  OTEL_EXPORTER_OTLP_PROTOCOL?: string;
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL?: string;
}

/** Whether metrics are to be sent by OTLP. */
export function sendsMetrics(env: OtelVariables): boolean {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return false;
  const exporters = (env.OTEL_METRICS_EXPORTER || 'otlp').split(',').map((name) => name.trim());
  const endpoint = env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  return exporters.includes('otlp') && Boolean(endpoint);
}

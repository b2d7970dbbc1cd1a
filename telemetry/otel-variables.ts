// The variables that OpenTelemetry defines for exporters. The exporters themselves read those of their connection.
export type OtelVariables = { [name: `OTEL_${string}`]: string | undefined };

/** The only one that is spoken. */
export const PROTOCOL = 'http/protobuf';

export function sendsMetrics(env: OtelVariables): boolean {
  return isSent(env, env.OTEL_METRICS_EXPORTER, env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT);
}

export function sendsTraces(env: OtelVariables): boolean {
  return isSent(env, env.OTEL_TRACES_EXPORTER, env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT);
}

function isSent(env: OtelVariables, exporter: string | undefined, endpoint: string | undefined): boolean {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return false;
  const exporters = (exporter || 'otlp').split(',').map((name) => name.trim());
  return exporters.includes('otlp') && Boolean(endpoint || env.OTEL_EXPORTER_OTLP_ENDPOINT);
}

export const metricsProtocol = (env: OtelVariables): string =>
  env.OTEL_EXPORTER_OTLP_METRICS_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || PROTOCOL;

const EXPORT_EVERY_MS = 60_000;

export function metricsInterval({ OTEL_METRIC_EXPORT_INTERVAL }: OtelVariables): number {
  const interval = Number(OTEL_METRIC_EXPORT_INTERVAL);
  return interval >= 1000 ? interval : EXPORT_EVERY_MS;
}

/** Where metrics are sent, for exporters that do not read the variables themselves. @returns null: nowhere */
export function metricsTarget(env: OtelVariables): { url: string; headers: Record<string, string> } | null {
  const { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: own, OTEL_EXPORTER_OTLP_ENDPOINT: base = '' } = env;
  if (!sendsMetrics(env) || metricsProtocol(env) !== PROTOCOL) return null;
  const headers = { ...pairsOf(env.OTEL_EXPORTER_OTLP_HEADERS), ...pairsOf(env.OTEL_EXPORTER_OTLP_METRICS_HEADERS) };
  // The address of one signal is taken as it is.
  return { url: own || `${base.replace(/\/$/, '')}/v1/metrics`, headers };
}

/** `name=value,name=value`, percent-encoded. What is no pair is left out, as OpenTelemetry asks for. */
function pairsOf(text = ''): Record<string, string> {
  const pairs = text.split(',').flatMap((pair): [string, string][] => {
    const end = pair.indexOf('=');
    const [name, value] = [pair.slice(0, end), pair.slice(end + 1)].map((part) => decoded(part.trim()));
    return end > 0 && name && value ? [[name, value]] : [];
  });
  return Object.fromEntries(pairs);
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
